import { readFileSync } from "node:fs"
import type { FailureCode } from "../../../src/contract/failure.ts"
import type { ProgressDetail } from "../../../src/contract/report.ts"
import { sumInputBytes } from "../../../src/contract/task.ts"
import type { TaskInput } from "../../../src/contract/task.ts"
import { createCallerFailure, RunnerError } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import type { ToolProcessResult, ProcessTerminationCause } from "../../sandbox/tool-process.ts"
import type { TaskSandbox } from "../../sandbox/sandbox.ts"
import { startToolProcess } from "../../sandbox/start-process.ts"
import { buildWorkspacePath } from "../../sandbox/workspace.ts"
import type { ToolLimits } from "../../settings.ts"
import {
  applyExplainRule,
  prefixCommandNumber,
  cleanToolLines,
  explainFfmpegFailure,
  selectErrorLines,
} from "./explain-failure.ts"
import type { CommandPosition } from "./explain-failure.ts"
import { restrictedFfmpegArguments, findProgressOptions } from "./ffmpeg-arguments.ts"
import { formatBytes } from "../format-bytes.ts"
import { createFfmpegProgressReader } from "./ffmpeg-progress.ts"
import { createFfmpegRunDetailsReader } from "./run-facts.ts"
import type { FfmpegRunDetails } from "./run-facts.ts"
import { findFileListReason, formatRefusedInputMessage } from "./unreadable-inputs.ts"
import { readFirstBytes } from "../first-bytes.ts"
import { EXPLAIN_RULES } from "./rules/explain-rules.ts"

/** Signals that mean a crash of a tool. A crash would occur again on a retry. */
const CRASH_SIGNALS = new Set([
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
  "SIGSEGV",
  "SIGSYS",
  "SIGTRAP",
])
const OUT_OF_MEMORY = /: Cannot allocate memory$/m
/**
 * Matches the message about a missing file of a concat list. ffmpeg skips such a file and still
 * exits with code 0.
 */
const MISSING_LIST_FILE = /^\[concat @ \S+\] Impossible to open '/m

/**
 * Values of a task's run that a run of ffmpeg needs: inputs, settings, status, workspace and
 * sandbox.
 */
type FfmpegContext = {
  order: { inputs: readonly TaskInput[] }
  settings: { toolPaths: Record<"ffmpeg", string> }
  status: { processingMs: number }
  workspace: string
  taskSandbox: TaskSandbox
  signal: AbortSignal
}

type Command = {
  argv: readonly string[]
  position: CommandPosition
  timeLimitMs: number
  onSpawn: () => void
  /** Durations of the outputs of the task's earlier commands, in seconds, by file name. */
  earlierDurations?: ReadonlyMap<string, number> | undefined
  onFraction: (fraction: number) => void
  /**
   * Called with the details of each progress report of ffmpeg, such as the number of frames, even
   * if the finished fraction is unknown.
   */
  onDetail?: ((detail: ProgressDetail) => void) | undefined
  /** Called with each line of stderr, for callers that parse the output of filters. */
  onStderrLine?: ((line: string) => void) | undefined
  /** Called with each chunk of standard output. If not set, standard output is discarded. */
  onStdout?: ((chunk: Uint8Array) => void) | undefined
  /** Called after a command that has succeeded, even if its outputs are empty. */
  onSuccess: (run: FinishedFfmpegRun) => void
}

/**
 * Finished run of ffmpeg that has succeeded, or failed only because an encoder received no frame.
 * Contains the arguments, the error lines, and facts from the output of ffmpeg.
 */
export type FinishedFfmpegRun = {
  argv: readonly string[]
  complaints: string[]
  notes: FfmpegRunDetails
}

type LimitCause = Extract<
  ProcessTerminationCause,
  "cpu_limit" | "disk_limit" | "file_limit" | "out_of_memory" | "output_limit" | "stdout_limit"
>

const LIMIT_SENTENCES: Record<LimitCause, (limits: ToolLimits) => string> = {
  cpu_limit: () => "The tool was stopped: it exceeded its limit of processor time.",
  disk_limit: ({ workspaceBytes, workspaceFiles }) =>
    `The command was stopped: a job may write ${formatBytes(workspaceBytes)} in ${workspaceFiles} files.`,
  file_limit: ({ fileBytes }) =>
    `The command was stopped: a file may have at most ${formatBytes(fileBytes)}.`,
  out_of_memory: ({ residentBytes }) =>
    `The command was stopped: it may use at most ${formatBytes(residentBytes)} of memory.`,
  output_limit: ({ logBytes }) =>
    `The command was stopped: its log exceeded ${formatBytes(logBytes)}.`,
  stdout_limit: ({ fileBytes }) =>
    `The command was stopped: it may write at most ${formatBytes(fileBytes)} to standard output.`,
}

/**
 * Runs ffmpeg once in the workspace of a task's run. Returns null on success, else the failure, or
 * "time limit" if the time limit was exceeded.
 */
export async function runFfmpeg(
  context: FfmpegContext,
  command: Command,
): Promise<TaskFailure | "time limit" | null> {
  if (command.timeLimitMs <= 0) return "time limit"
  const { order, settings, signal, taskSandbox, workspace } = context
  const durations = new Map([...mapKnownInputSeconds(context), ...(command.earlierDurations ?? [])])
  const reader = createFfmpegProgressReader(command.argv, durations)
  const notes = createFfmpegRunDetailsReader()
  const oomKills = readOomKills()
  const { onStdout } = command
  const writesProgress = findProgressOptions(command.argv).length > 0
  const started = startToolProcess({
    tool: settings.toolPaths.ffmpeg,
    argv: restrictedFfmpegArguments(command.argv),
    taskSandbox,
    cwd: workspace,
    access: "write",
    inputBytes: sumInputBytes(order.inputs),
    timeLimitMs: command.timeLimitMs,
    signal,
    onStderrLine: (line) => {
      reader.readStderr(line)
      notes.readStderr(line)
      command.onStderrLine?.(line)
    },
    ...(onStdout && { onStdout }),
    onProgressLine: (line) => {
      if (writesProgress) onStdout?.(Buffer.from(`${line}\n`))
      notes.readProgress(line)
      const progress = reader.readProgress(line)
      if (progress) command.onDetail?.(progress.detail)
      if (progress && progress.fraction !== null) command.onFraction(progress.fraction)
    },
  })
  if (started.pid !== null) command.onSpawn()
  const end = await started.finished
  context.status.processingMs += end.wallMs
  signal.throwIfAborted()
  if (end.cause === "spawn_failed") {
    throw new RunnerError("internal", "ffmpeg could not be started.", {
      cause: new Error(end.spawnError ?? ""),
    })
  }
  if (end.cause === "time_limit") return "time limit"
  const noted = notes.end()
  const lines = cleanToolLines(end.stderrTail, workspace)
  const failed = interpretEnd(context, command, end, oomKills)
  // Treats a failure as success if its only cause is that an encoder received no frame. The empty
  // outputs are reported later, with a better explanation.
  const hasEnded = end.cause === null && end.signal === null
  if (failed && !(hasEnded && failedOnlyForLackOfFrames(lines, noted.hasWritten))) {
    return (await findListInput(context, command, failed)) ?? failed
  }
  command.onSuccess({ argv: command.argv, complaints: selectErrorLines(lines), notes: noted })
  return null
}

/**
 * Returns the failure for a command in which an input is a list of files, such as a playlist.
 * ffmpeg reports such an input as damaged media. Returns null if no input is a list.
 */
async function findListInput(
  { order, workspace }: FfmpegContext,
  { argv, position }: Command,
  { failure }: TaskFailure,
): Promise<TaskFailure | null> {
  if (failure.code !== "invalid_input") return null
  for (const { name } of order.inputs.filter((input) => argv.includes(input.name))) {
    const why = findFileListReason(await readFirstBytes(buildWorkspacePath(workspace, name)))
    if (why !== null) {
      return createCallerFailure(
        "invalid_input",
        prefixCommandNumber(position, formatRefusedInputMessage(why)),
        failure.lines,
      )
    }
  }
  return null
}

/**
 * Converts the end of an ffmpeg process to a failure, or to null for success. `oomKills` is the
 * number of OOM kills on this machine before the start of the process.
 */
function interpretEnd(
  { taskSandbox, workspace }: FfmpegContext,
  { argv, position }: Command,
  end: ToolProcessResult,
  oomKills: number,
): TaskFailure | null {
  const { exitCode, signal, stderrTail: stderr } = end
  const isOutOfMemory = OUT_OF_MEMORY.test(stderr)
  requireDisk(end.cause, taskSandbox)
  const limit = explainLimit(end.cause, taskSandbox.sandbox.limits)
  // Reports a lack of memory instead of the output limit, if both occurred. Some filters retry a
  // failed allocation and print an error each time, until the output limit is exceeded.
  if (limit && !(isOutOfMemory && limit.code === "output_limit")) {
    return createCallerFailure(limit.code, prefixCommandNumber(position, limit.sentence))
  }
  // On a full disk, ffmpeg may exit with 0 and leave a truncated file or an empty pass log.
  if (end.wasDiskFull) throw new RunnerError("disk_full", "The disk has no space left.")
  const isPartial = isOutOfMemory || MISSING_LIST_FILE.test(stderr)
  if (exitCode === 0 && !isPartial) return null
  if (signal === null || limit) {
    return explainFfmpegFailure({ argv, stderr, exitCode, workspace, position })
  }
  const wasOomKilled = signal === "SIGKILL" && readOomKills() > oomKills
  return explainSignal(position, signal, wasOomKilled)
}

/**
 * Throws a RunnerError if a command was stopped because the disk of the machine is nearly full.
 * Does nothing if the command exceeded a limit of its own, for which the caller gets a failure.
 */
function requireDisk(
  cause: ProcessTerminationCause | null,
  { sandbox, workspaceBytes }: TaskSandbox,
) {
  const { limits } = sandbox
  const isShort = workspaceBytes < limits.workspaceBytes
  const isShortFile = cause === "file_limit" && workspaceBytes < limits.fileBytes
  if (cause === "disk_full") {
    const message =
      "The command was stopped: the disk has no space left beyond the reserve of the service."
    throw new RunnerError("disk_full", message)
  }
  if (!isShort || (cause !== "disk_limit" && !isShortFile)) return
  const room = formatBytes(workspaceBytes)
  throw new RunnerError(
    "disk_full",
    `The command was stopped: the disk has room for only ${room} of its files.`,
  )
}

function explainSignal(
  position: CommandPosition,
  signal: string,
  wasOomKilled: boolean,
): TaskFailure {
  if (CRASH_SIGNALS.has(signal)) {
    const sentence = `ffmpeg crashed on this command or its inputs (${signal}).`
    return createCallerFailure("command_failed", prefixCommandNumber(position, sentence))
  }
  if (wasOomKilled) {
    const sentence = "The command exceeds the memory limit."
    return createCallerFailure("out_of_memory", prefixCommandNumber(position, sentence))
  }
  const message = prefixCommandNumber(position, `ffmpeg was killed from outside (${signal}).`)
  return { blame: "ours", failure: { code: "internal", message, lines: [] } }
}

/** Returns the known durations of a task's inputs in seconds, by the file name of the input. */
export function mapKnownInputSeconds({ order }: Pick<FfmpegContext, "order">): Map<string, number> {
  return new Map(
    order.inputs.flatMap(({ name, duration_seconds }) =>
      duration_seconds === undefined ? [] : [[name, duration_seconds] as const],
    ),
  )
}

/**
 * Returns the failure code and the error sentence for the limit that ended ffmpeg. Returns null if
 * no limit ended ffmpeg.
 */
function explainLimit(
  cause: ProcessTerminationCause | null,
  limits: ToolLimits,
): { code: FailureCode; sentence: string } | null {
  if (!isLimit(cause)) return null
  const code = cause === "stdout_limit" ? "output_limit" : cause
  return { code, sentence: LIMIT_SENTENCES[cause](limits) }
}

function isLimit(cause: ProcessTerminationCause | null): cause is LimitCause {
  return cause !== null && Object.hasOwn(LIMIT_SENTENCES, cause)
}

/**
 * Returns the number of processes that the kernel's OOM killer has killed since the machine
 * started; 0 if the number cannot be read.
 */
function readOomKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync("/proc/vmstat", "utf8"))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Matches lines of ffmpeg 7 about a stream that ended before its first frame. */
const NO_FRAME =
  /^\[[av]f#\S+\] No filtered frames for output stream|^\[[av]ost#\S+\] Could not open encoder before EOF/
/** Matches the message about a frame that the encoder rejected. */
const REFUSED_FRAME = /^\[[av]f#\S+\] Error sending frames to consumers/
/**
 * Matches the message with which ffmpeg fails if a muxer received no frame. ffmpeg 5 prints the
 * same message and does not fail.
 */
const NO_TRAILER = /^\[out#\S+\] Error writing trailer: Invalid argument$/

/**
 * Reports whether ffmpeg failed only because an encoder received no frame. In this case, ffmpeg 7
 * opens the encoder with default values, which some encoders reject; ffmpeg 5 writes an empty file
 * and succeeds. `lines` is the result of `cleanToolLines`.
 */
export function failedOnlyForLackOfFrames(lines: readonly string[], hasWritten: boolean): boolean {
  if (lines.some((line) => REFUSED_FRAME.test(line))) return false
  const isEmpty = lines.some(
    (line) => NO_FRAME.test(line) || (!hasWritten && NO_TRAILER.test(line)),
  )
  return (
    isEmpty && EXPLAIN_RULES.every((rule) => rule.isVague || applyExplainRule(rule, lines) === null)
  )
}
