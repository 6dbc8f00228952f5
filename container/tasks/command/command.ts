import { parseFfmpegCommand } from "../../../src/ffmpeg/command-line.ts"
import { describeEndlessSources, findEndlessSources } from "../../../src/ffmpeg/endless.ts"
import { commandTaskDefinition } from "../../../src/contract/tasks/command.ts"
import { COMMAND_REMEDIES, FFMPEG_REMEDIES } from "../../../src/ffmpeg/policy/remedies.ts"
import type { TaskInput, TaskOutput } from "../../../src/contract/task.ts"
import type { CommandResult, CommandWork } from "../../../src/contract/tasks/command.ts"
import { getWorkspaceOutputNames } from "../../../src/contract/task.ts"
import { TASK_WARNINGS_MAX } from "../../../src/contract/warning.ts"
import { createCallerFailure } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import { prefixCommandNumber } from "../../tools/ffmpeg/explain-failure.ts"
import {
  divideProgressAmongCommands,
  listCommandOutputNames,
} from "../../tools/ffmpeg/length/progress-shares.ts"
import { mapKnownInputSeconds, runFfmpeg } from "../../tools/ffmpeg/run-ffmpeg.ts"
import type { FinishedFfmpegRun } from "../../tools/ffmpeg/run-ffmpeg.ts"
import { TaskStdout } from "../../tools/ffmpeg/task-stdout.ts"
import { createCallerToolLog } from "../../tools/ffmpeg/tool-log.ts"
import type { CallerToolLog } from "../../tools/ffmpeg/tool-log.ts"
import { downloadInputs } from "../../transfer/download-inputs.ts"
import { checkAndStoreOutputs } from "../outputs/finish-outputs.ts"
import { prepareFfmpegCommands } from "./prepare-commands.ts"
import { startRunClock } from "../run-clock.ts"
import { markProcessStarted } from "../run-context.ts"
import type { RunContext, TaskOutcome } from "../run-context.ts"

export const commandTaskHandler = { definition: commandTaskDefinition, run: runCommandTask }

/** Runs a command task: downloads the inputs, runs the commands in order and stores the outputs. */
async function runCommandTask(
  context: RunContext,
  work: CommandWork,
): Promise<TaskOutcome<CommandResult>> {
  const { status } = context
  status.phase = "downloading"
  await downloadInputs(context)
  status.phase = "working"
  const runs: FinishedFfmpegRun[] = []
  const outputs = inWorkspace(work.outputs)
  const names = fileNamesByKey(context.order.inputs, outputs)
  const { workspace, order } = context
  const remedies = work.form === "ffmpeg" ? FFMPEG_REMEDIES : COMMAND_REMEDIES
  const files = { workspace, inputs: order.inputs, outputs, names, remedies }
  const commands = prepareFfmpegCommands(work.commands, files)
  if ("failure" in commands) return commands
  const toolLog = createCallerToolLog(workspace, names)
  const stdout = new TaskStdout()
  const secondsMax = work.run_seconds_max
  const failed = await runCommands(context, commands, { secondsMax, toolLog, stdout, runs })
  const finished = failed ?? (await checkAndStoreOutputs(context, outputs, runs))
  const printed = {
    log: toolLog.text(),
    ...(stdout.text !== undefined && { stdout: stdout.text }),
  }
  if ("failure" in finished) return { ...finished, ...printed }
  const warnings = [...stdout.warnings, ...finished.warnings].slice(0, TASK_WARNINGS_MAX)
  return { result: { kind: "command", ...finished, warnings }, ...printed }
}

async function runCommands(
  context: RunContext,
  commands: readonly string[][],
  {
    secondsMax,
    toolLog,
    stdout,
    runs,
  }: { secondsMax: number; toolLog: CallerToolLog; stdout: TaskStdout; runs: FinishedFfmpegRun[] },
): Promise<TaskFailure | null> {
  const total = commands.length
  const shares = divideProgressAmongCommands(commands, mapKnownInputSeconds(context))
  const durations = new Map<string, number>()
  const clock = startRunClock(context, {
    secondsMax,
    what: total > 1 ? "the commands together" : "the command",
  })
  for (const [index, argv] of commands.entries()) {
    const position = { number: index + 1, total }
    const { from = 0, to = 1 } = shares[index] ?? {}
    toolLog.begin(position)
    const failed = await runFfmpeg(context, {
      argv,
      position,
      earlierDurations: durations,
      onSuccess: (run) => {
        for (const name of listCommandOutputNames(argv))
          durations.set(name, run.notes.writtenSeconds)
        runs.push(run)
      },
      onSpawn: () => markProcessStarted(context, "ffmpeg"),
      timeLimitMs: clock.leftMs(),
      onFraction: (fraction) => clock.report(from + (to - from) * fraction),
      onDetail: (detail) => clock.reportDetail(detail),
      onStderrLine: (line) => toolLog.read(line),
      onStdout: (chunk) => stdout.read(chunk),
    })
    for (const line of stdout.end(position)) toolLog.read(line)
    if (failed === "time limit") {
      const message =
        clock.describeLimit() + describeEndlessSources(findEndlessSources(parseFfmpegCommand(argv)))
      return createCallerFailure("time_limit", prefixCommandNumber(position, message))
    }
    if (failed) return failed
  }
  return null
}

/**
 * Returns copies of the outputs. The `name` of each copy is the file name of the output in the
 * workspace.
 */
function inWorkspace(outputs: readonly TaskOutput[]): TaskOutput[] {
  const names = getWorkspaceOutputNames(outputs)
  return outputs.map((output) => ({ ...output, name: names.get(output.key) ?? output.name }))
}

function fileNamesByKey(inputs: readonly TaskInput[], outputs: readonly TaskOutput[]) {
  return new Map([...inputs, ...outputs].map(({ key, name }) => [key, name]))
}
