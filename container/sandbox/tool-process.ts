import type { Writable } from "node:stream"
import type { FolderAccess, ToolGrants, TaskSandbox } from "./sandbox.ts"

/** Reason for which the runner terminates the process of a tool. */
export type RunnerTerminationCause =
  | "time_limit"
  | "aborted"
  | "disk_full"
  | "disk_limit"
  | "out_of_memory"
  | "output_limit"
  | "stdout_limit"

/**
 * Cause for which the runner or the kernel ended the process of a tool, or for which the process
 * did not start. If there are several causes, the first cause counts.
 */
export type ProcessTerminationCause =
  | RunnerTerminationCause
  | "spawn_failed"
  | "cpu_limit"
  | "file_limit"

export type ToolProcessSpec = ToolGrants & {
  taskSandbox: TaskSandbox
  tool: string
  argv: readonly string[]
  /** Working and temporary folder of the process, usually the workspace. */
  cwd: string
  /**
   * Access of the process to the folder `cwd`. If the access is "write", the limits of the
   * workspace are enforced.
   */
  access: FolderAccess
  /**
   * Total size of the inputs in the workspace, in bytes. Inputs do not count toward the limit of
   * the workspace.
   */
  inputBytes?: number
  timeLimitMs: number
  signal: AbortSignal
  /**
   * Text that is written to standard input; none by default. `open` leaves the pipe open for later
   * writes.
   */
  stdin?: string | { open: true }
  /**
   * Maximum number of bytes of stdout that are kept. If neither this limit nor `onStdout` is set,
   * stdout is discarded.
   */
  stdoutBytesMax?: number
  /**
   * Called with each chunk of stdout. Stdout then counts as a file: the size limit of a file
   * applies to it, instead of the smaller limit of the text that a tool prints.
   */
  onStdout?: (chunk: Buffer) => void
  onStderrLine?: (line: string) => void
  /**
   * Called with each line that the process writes to file descriptor 3. If not set, the process has
   * no file descriptor 3.
   */
  onProgressLine?: (line: string) => void
}

export type ToolProcessResult = {
  exitCode: number | null
  signal: NodeJS.Signals | null
  cause: ProcessTerminationCause | null
  /** Error message of a failed start; null if the process has started. */
  spawnError: string | null
  /** Whether the disk that holds a writable workspace was full at any time. */
  wasDiskFull: boolean
  stderrTail: string
  stdout: string
  wallMs: number
}

export type StartedToolProcess = {
  pid: number | null
  /**
   * Standard input of the process, if the start asked for an open pipe; otherwise null. A write
   * fails after the process has ended.
   */
  stdin: Writable | null
  finished: Promise<ToolProcessResult>
}
