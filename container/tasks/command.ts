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

/** An estimate from less than this is not worth reporting. */
const ETA_FRACTION_MIN = 0.02
const ETA_SECONDS_MIN = 1
const PERCENT_BEFORE_END = 99

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
  const total = work.commands.length
  for (const [index, words] of work.commands.entries()) {
    const position = { number: index + 1, total }
    const failed = await runFfmpeg(context, {
      argv: substitute(words, names),
      position,
      onSuccess,
      onSpawn: () => markProcessStarted(context, "ffmpeg"),
      timeLimitMs: work.run_seconds_max * 1000 - (performance.now() - startedMs),
      onFraction: (fraction) => {
        const done = (index + fraction) / total
        const seconds = (performance.now() - startedMs) / 1000
        const hasEta = done >= ETA_FRACTION_MIN && seconds >= ETA_SECONDS_MIN
        const etaSeconds = hasEta ? Math.round((seconds * (1 - done)) / done) : null
        context.reporter.progress(Math.min(done * 100, PERCENT_BEFORE_END), etaSeconds)
      },
    })
    if (failed === "time limit") {
      return timeLimitFailure(position, { ...work, plan: context.order.plan })
    }
    if (failed) return failed
  }
  return null
}

function timeLimitFailure(
  position: CommandPosition,
  { run_seconds_max: secondsMax, plan }: { run_seconds_max: number; plan: string | undefined },
): TaskFailure {
  const what = position.total > 1 ? "the commands together" : "the command"
  const whose = plan === undefined ? "" : ` on the ${plan} plan`
  const sentence = `It was stopped: ${what} may run for ${secondsMax} seconds${whose}.`
  return callerFailure("time_limit", atCommand(position, sentence))
}

function namesByKey(inputs: readonly TaskInput[], outputs: readonly TaskOutput[]) {
  return new Map([...inputs, ...outputs].map(({ key, name }) => [key, name]))
}
