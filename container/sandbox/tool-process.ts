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
 * Cause of the end of a tool's process other than its own exit. If there are several causes, the
 * first counts.
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
  /** Access of the process to `cwd`. With "write", the limits of the workspace are enforced. */
  access: FolderAccess
  /** Bytes of the inputs in the workspace, which do not count toward the limit of the workspace. */
  inputBytes?: number
  timeLimitMs: number
  signal: AbortSignal
  /** Text on standard input; none by default. `open` leaves the pipe open for later writes. */
  stdin?: string | { open: true }
  /** Maximum number of bytes of stdout that are kept; without it and `onStdout`, stdout is discarded. */
  stdoutBytesMax?: number
  /** Called with each chunk of stdout, which then has the size limit of a file instead of a log. */
  onStdout?: (chunk: Buffer) => void
  onStderrLine?: (line: string) => void
  /**
   * Called with each line that the process writes to file descriptor 3; if not set, the process has
   * no such descriptor.
   */
  onProgressLine?: (line: string) => void
}

export type ToolProcessEnd = {
  exitCode: number | null
  signal: NodeJS.Signals | null
  cause: ProcessTerminationCause | null
  /** Error of a start that failed; null if the process has started. */
  spawnError: string | null
  /** Whether the disk that holds a writable workspace was full at any time. */
  wasDiskFull: boolean
  stderrTail: string
  stdout: string
  wallMs: number
}

export type StartedToolProcess = {
  pid: number | null
  /** Standard input, if the spec leaves it open. A write fails once the process has ended. */
  stdin: Writable | null
  finished: Promise<ToolProcessEnd>
}
