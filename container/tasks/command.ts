import { readCommand } from "../../src/contract/command-line.ts"
import { describeEndless, findEndless } from "../../src/contract/endless.ts"
import { substitute, commandTask } from "../../src/contract/tasks/command.ts"
import type { TaskInput, TaskOutput } from "../../src/contract/task.ts"
import type { CommandResult, CommandWork } from "../../src/contract/tasks/command.ts"
import { callerFailure } from "../failures.ts"
import type { TaskFailure } from "../failures.ts"
import { atCommand } from "../tools/explain.ts"
import { commandShares, outputNames } from "../tools/length/shares.ts"
import { knownDurations, runFfmpeg } from "../tools/run-ffmpeg.ts"
import type { FinishedRun } from "../tools/run-ffmpeg.ts"
import { openToolLog } from "../tools/tool-log.ts"
import type { ToolLog } from "../tools/tool-log.ts"
import { downloadInputs } from "../transfer/download.ts"
import { finishOutputs } from "./finish-outputs.ts"
import { startRunClock } from "./run-clock.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"

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
  const names = namesByKey(context.order.inputs, work.outputs)
  const toolLog = openToolLog(context.workspace, names)
  const failed = await runCommands(context, work, { names, toolLog, runs })
  if (failed) return { ...failed, log: toolLog.text() }
  const finished = await finishOutputs(context, work.outputs, runs)
  const log = toolLog.text()
  if ("failure" in finished) return { ...finished, log }
  return { result: { kind: "command", ...finished }, log }
}

async function runCommands(
  context: RunContext,
  work: CommandWork,
  { names, toolLog, runs }: { names: Map<string, string>; toolLog: ToolLog; runs: FinishedRun[] },
): Promise<TaskFailure | null> {
  const commands = work.commands.map((words) => substitute(words, names))
  const total = commands.length
  const shares = commandShares(commands, knownDurations(context))
  const made = new Map<string, number>()
  const clock = startRunClock(context, {
    secondsMax: work.run_seconds_max,
    what: total > 1 ? "the commands together" : "the command",
  })
  for (const [index, argv] of commands.entries()) {
    const position = { number: index + 1, total }
    const { from = 0, to = 1 } = shares[index] ?? {}
    toolLog.begin(position)
    const failed = await runFfmpeg(context, {
      argv,
      position,
      made,
      onSuccess: (run) => {
        for (const name of outputNames(argv)) made.set(name, run.notes.writtenSeconds)
        runs.push(run)
      },
      onSpawn: () => markProcessStarted(context, "ffmpeg"),
      timeLimitMs: clock.leftMs(),
      onFraction: (fraction) => clock.report(from + (to - from) * fraction),
      onDetail: (detail) => clock.tell(detail),
      onStderrLine: (line) => toolLog.read(line),
    })
    if (failed === "time limit") {
      const message = clock.describeLimit() + describeEndless(findEndless(readCommand(argv)))
      return callerFailure("time_limit", atCommand(position, message))
    }
    if (failed) return failed
  }
  return null
}

function namesByKey(inputs: readonly TaskInput[], outputs: readonly TaskOutput[]) {
  return new Map([...inputs, ...outputs].map(({ key, name }) => [key, name]))
}
