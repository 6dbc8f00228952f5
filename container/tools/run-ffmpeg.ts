import { readFileSync } from "node:fs"
import type { FailureCode } from "../../src/contract/failure.ts"
import type { ProgressDetail } from "../../src/contract/report.ts"
import { inputBytesOf } from "../../src/contract/task.ts"
import type { TaskInput } from "../../src/contract/task.ts"
import { RunnerError, callerFailure } from "../failures.ts"
import type { TaskFailure } from "../failures.ts"
import type { ProcessEnd, TerminationCause } from "../sandbox/process.ts"
import type { TaskSandbox } from "../sandbox/sandbox.ts"
import { startProcess } from "../sandbox/start.ts"
import { pathIn } from "../sandbox/workspace.ts"
import type { ToolLimits } from "../settings.ts"
import { atCommand, cleanLines, selectErrorLines, explain } from "./explain.ts"
import type { CommandPosition } from "./explain.ts"
import { ffmpegArguments } from "./ffmpeg-arguments.ts"
import { formatBytes } from "./format-bytes.ts"
import { openProgressReader } from "./progress.ts"
import { openRunNotes } from "./run-notes.ts"
import type { RunNotes } from "./run-notes.ts"
import { findList, refusedInput } from "./unreadable.ts"
import { failedWithoutFrames } from "./without-frames.ts"

/** Signals of a crash, which would happen again. */
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
/** A missing file of a concat list: ffmpeg skips it and exits with 0. */
const MISSING_LIST_FILE = /^\[concat @ \S+\] Impossible to open '/m

/** What ffmpeg runs with: the settings, the state and the workspace of a task's run. */
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
  /** Lengths of files that earlier commands made, by name, in seconds. */
  made?: ReadonlyMap<string, number> | undefined
  onFraction: (fraction: number) => void
  /** Called with each report of its progress, whether the fraction is known or not. */
  onDetail?: ((detail: ProgressDetail) => void) | undefined
  /** Called with each line of stderr, for what a filter says. */
  onStderrLine?: ((line: string) => void) | undefined
  /** Called with a command that did its work, if only by outputs that are empty. */
  onSuccess: (run: FinishedRun) => void
}

/**
 * A command that succeeded, or failed for want of frames alone: its words, the lines in which it
 * complained, and notes of all it said.
 */
export type FinishedRun = { argv: readonly string[]; complaints: string[]; notes: RunNotes }

type LimitCause = Extract<
  TerminationCause,
  "cpu_limit" | "disk_limit" | "file_limit" | "out_of_memory" | "output_limit"
>

const SENTENCES: Record<LimitCause, (limits: ToolLimits) => string> = {
  cpu_limit: () => "It was stopped: it used all the processor time that it may have.",
  disk_limit: ({ workspaceBytes, workspaceFiles }) =>
    `It was stopped: a job may write ${formatBytes(workspaceBytes)} in ${workspaceFiles} files.`,
  file_limit: ({ fileBytes }) =>
    `It was stopped: a file may have at most ${formatBytes(fileBytes)}.`,
  out_of_memory: ({ residentBytes }) =>
    `It was stopped: a command may use ${formatBytes(residentBytes)} of memory.`,
  output_limit: ({ logBytes }) =>
    `It was stopped: it said more than ${formatBytes(logBytes)} about itself.`,
}

/** Runs ffmpeg once in a run's workspace; null means success. */
export async function runFfmpeg(
  context: FfmpegContext,
  command: Command,
): Promise<TaskFailure | "time limit" | null> {
  if (command.timeLimitMs <= 0) return "time limit"
  const { order, settings, signal, taskSandbox, workspace } = context
  const known = new Map([...knownDurations(context), ...(command.made ?? [])])
  const reader = openProgressReader(command.argv, known)
  const notes = openRunNotes()
  const oomKills = readOomKills()
  const started = startProcess({
    tool: settings.toolPaths.ffmpeg,
    argv: ffmpegArguments(command.argv),
    taskSandbox,
    cwd: workspace,
    access: "write",
    inputBytes: inputBytesOf(order.inputs),
    timeLimitMs: command.timeLimitMs,
    signal,
    onStderrLine: (line) => {
      reader.readStderr(line)
      notes.readStderr(line)
      command.onStderrLine?.(line)
    },
    onProgressLine: (line) => {
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
  const lines = cleanLines(end.stderrTail, workspace)
  const failed = interpretEnd(context, command, end, oomKills)
  // An empty output fails the task by a sentence of its own, whatever ffmpeg ends with.
  const hasEnded = end.cause === null && end.signal === null
  if (failed && !(hasEnded && failedWithoutFrames(lines, noted.hasWritten))) {
    return (await findListInput(context, command, failed)) ?? failed
  }
  command.onSuccess({ argv: command.argv, complaints: selectErrorLines(lines), notes: noted })
  return null
}

/** The failure of a command whose input is a list, which ffmpeg took for damaged media. */
async function findListInput(
  { order, workspace }: FfmpegContext,
  { argv, position }: Command,
  { failure }: TaskFailure,
): Promise<TaskFailure | null> {
  if (failure.code !== "invalid_input") return null
  for (const { name } of order.inputs.filter((input) => argv.includes(input.name))) {
    const why = await findList(pathIn(workspace, name))
    if (why !== null) {
      return callerFailure("invalid_input", atCommand(position, refusedInput(why)), failure.lines)
    }
  }
  return null
}

/** What the end of a process means; `oomKills` is the machine's count before its start. */
function interpretEnd(
  { taskSandbox, workspace }: FfmpegContext,
  { argv, position }: Command,
  end: ProcessEnd,
  oomKills: number,
): TaskFailure | null {
  const { exitCode, signal, stderrTail: stderr } = end
  const isOutOfMemory = OUT_OF_MEMORY.test(stderr)
  requireDisk(end.cause, taskSandbox)
  const limit = explainLimit(end.cause, taskSandbox.sandbox.limits)
  // Some filters repeat a failed allocation, and print an error each time.
  if (limit && !(isOutOfMemory && limit.code === "output_limit")) {
    return callerFailure(limit.code, atCommand(position, limit.sentence))
  }
  // ffmpeg may exit with 0 all the same, with a truncated file or an empty pass log.
  if (end.wasDiskFull) throw new RunnerError("disk_full", "There was no space left on the disk.")
  const isPartial = isOutOfMemory || MISSING_LIST_FILE.test(stderr)
  if (exitCode === 0 && !isPartial) return null
  if (signal === null || limit) {
    return explain({ argv, stderr, exitCode, workspace, position })
  }
  const wasOomKilled = signal === "SIGKILL" && readOomKills() > oomKills
  return explainSignal(position, signal, wasOomKilled)
}

/** Throws where a process was ended for what the disk has, and not for what a job may write. */
function requireDisk(cause: TerminationCause | null, { sandbox, workspaceBytes }: TaskSandbox) {
  const { limits } = sandbox
  const isShort = workspaceBytes < limits.workspaceBytes
  const isShortFile = cause === "file_limit" && workspaceBytes < limits.fileBytes
  if (cause === "disk_full") {
    const message = "It was stopped: the disk has no more room than the service itself needs."
    throw new RunnerError("disk_full", message)
  }
  if (!isShort || (cause !== "disk_limit" && !isShortFile)) return
  const room = formatBytes(workspaceBytes)
  throw new RunnerError("disk_full", `It was stopped: the disk has room for ${room} of its files.`)
}

function explainSignal(
  position: CommandPosition,
  signal: string,
  wasOomKilled: boolean,
): TaskFailure {
  if (CRASH_SIGNALS.has(signal)) {
    const sentence = `ffmpeg crashed over this command or its inputs (${signal}).`
    return callerFailure("command_failed", atCommand(position, sentence))
  }
  if (wasOomKilled) {
    const sentence = "The command needs more memory than there is."
    return callerFailure("out_of_memory", atCommand(position, sentence))
  }
  const message = atCommand(position, `ffmpeg was ended from outside (${signal}).`)
  return { blame: "ours", failure: { code: "internal", message, lines: [] } }
}

/** The lengths of a task's inputs by their names, as far as they are known, in seconds. */
export function knownDurations({ order }: Pick<FfmpegContext, "order">): Map<string, number> {
  return new Map(
    order.inputs.flatMap(({ name, duration_seconds }) =>
      duration_seconds === undefined ? [] : [[name, duration_seconds] as const],
    ),
  )
}

/** The limit that ended a process, as a code and a sentence; null for any other cause. */
function explainLimit(
  cause: TerminationCause | null,
  limits: ToolLimits,
): { code: FailureCode; sentence: string } | null {
  if (!isLimit(cause)) return null
  return { code: cause, sentence: SENTENCES[cause](limits) }
}

function isLimit(cause: TerminationCause | null): cause is LimitCause {
  return cause !== null && Object.hasOwn(SENTENCES, cause)
}

/** How many processes the kernel's OOM killer has killed since boot; 0 where that is not readable. */
function readOomKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync("/proc/vmstat", "utf8"))?.[1] ?? 0)
  } catch {
    return 0
  }
}
