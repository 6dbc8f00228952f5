import { substitute, commandTask } from "../../src/contract/tasks/command.ts"
import type { TaskInput, TaskOutput } from "../../src/contract/task.ts"
import type { CommandResult, CommandWork } from "../../src/contract/tasks/command.ts"
import { callerFailure } from "../failures.ts"
import type { TaskFailure } from "../failures.ts"
import { atCommand } from "../tools/explain.ts"
import type { CommandPosition } from "../tools/explain.ts"
import { runFfmpeg } from "../tools/run-ffmpeg.ts"
import type { FinishedRun } from "../tools/run-ffmpeg.ts"
import { downloadInputs } from "../transfer/download.ts"
import { finishOutputs } from "./finish-outputs.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"
import { openRunProgress } from "./run-progress.ts"
import { timeLimitFailure } from "./time-limit.ts"
import type { TimeLimit } from "./time-limit.ts"

export const command = { definition: commandTask, run: runCommandTask }

/** Downloads the inputs, runs the commands one after another, stores the outputs. */
async function runCommandTask(
  context: RunContext,
  work: CommandWork,
): Promise<TaskOutcome<CommandResult>> {
  const { status } = context
  status.phase = "downloading"
  await downloadInputs(context)
  status.phase = "working"
  const runs: FinishedRun[] = []
  const failed = await runCommands(context, work, (run) => runs.push(run))
  if (failed) return failed
  const finished = await finishOutputs(context, work.outputs, runs)
  return "failure" in finished ? finished : { result: { kind: "command", ...finished } }
}

async function runCommands(
  context: RunContext,
  work: CommandWork,
  onSuccess: (run: FinishedRun) => void,
): Promise<TaskFailure | null> {
  const names = namesByKey(context.order.inputs, work.outputs)
  const startedMs = performance.now()
  const report = openRunProgress(context)
  const total = work.commands.length
  for (const [index, words] of work.commands.entries()) {
    const position = { number: index + 1, total }
    const failed = await runFfmpeg(context, {
      argv: substitute(words, names),
      position,
      onSuccess,
      onSpawn: () => markProcessStarted(context, "ffmpeg"),
      timeLimitMs: work.run_seconds_max * 1000 - (performance.now() - startedMs),
      onFraction: (fraction) => report((index + fraction) / total),
    })
    if (failed === "time limit") {
      const limit = { secondsMax: work.run_seconds_max, plan: context.order.plan }
      return commandsTimeLimit(position, limit)
    }
    if (failed) return failed
  }
  return null
}

function commandsTimeLimit(position: CommandPosition, limit: TimeLimit): TaskFailure {
  const isOne = position.total === 1
  const failed = timeLimitFailure(isOne ? "the command" : "the commands together", limit)
  const { code, message } = failed.failure
  return callerFailure(code, atCommand(position, message))
}

function namesByKey(inputs: readonly TaskInput[], outputs: readonly TaskOutput[]) {
  return new Map([...inputs, ...outputs].map(({ key, name }) => [key, name]))
}
