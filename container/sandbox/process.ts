import type { Writable } from "node:stream"
import type { FolderAccess, Grants, TaskSandbox } from "./sandbox.ts"

/** Why the runner terminates a process. */
export type RunnerTermination =
  | "time_limit"
  | "aborted"
  | "disk_full"
  | "disk_limit"
  | "out_of_memory"
  | "output_limit"

/** Why a process ended other than by its own exit; the first cause counts. */
export type TerminationCause = RunnerTermination | "spawn_failed" | "cpu_limit" | "file_limit"

export type ProcessSpec = Grants & {
  taskSandbox: TaskSandbox
  tool: string
  argv: readonly string[]
  /** The workspace: working and temporary folder of the process. */
  cwd: string
  /** Access of the process to `cwd`; with "write" the folder is kept within its limits. */
  access: FolderAccess
  /** Bytes of files in the workspace that no tool has written. */
  inputBytes?: number
  timeLimitMs: number
  signal: AbortSignal
  /** Text on standard input, which is empty without it; `open` leaves it to be written to. */
  stdin?: string | { open: true }
  /** How much of stdout is kept; without it stdout is discarded. */
  stdoutBytesMax?: number
  onStderrLine?: (line: string) => void
  /** Lines of file descriptor 3, which the process has only with this callback. */
  onProgressLine?: (line: string) => void
}

export type ProcessEnd = {
  exitCode: number | null
  signal: NodeJS.Signals | null
  cause: TerminationCause | null
  /** Why it could not be started. */
  spawnError: string | null
  /** Whether the disk of a workspace that it may write to had no space left at some time. */
  wasDiskFull: boolean
  stderrTail: string
  stdout: string
  wallMs: number
}

export type StartedProcess = {
  pid: number | null
  /** Standard input, where the spec leaves it open; writing to a process that has ended fails. */
  stdin: Writable | null
  finished: Promise<ProcessEnd>
}
