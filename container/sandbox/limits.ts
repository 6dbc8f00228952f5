import { availableParallelism, totalmem } from "node:os"

const MIB = 1024 ** 2
const GIB = 1024 ** 3

/** What one tool, or one workspace, may use up. */
export type Limits = {
  /** Address space of a tool. SVT-AV1 asks for 5 GB at 4K; `-threads 1000` asks for 27. */
  memoryBytes: number
  /** One file. An encoder writes a gigabyte a second where nobody stops it. */
  fileBytes: number
  /** Processor time of a tool; null is all cores for as long as it may run. */
  cpuSeconds: number | null
  /** Descriptors of a tool; a tee over many segments has some dozens. */
  openFiles: number
  /** Threads of a tool; SVT-AV1 has 161 at 4K on many cores. */
  threads: number
  /** What the tools of a workspace write, beside its inputs. */
  workspaceBytes: number
  /** Files and folders of a workspace; picture series are made at thousands a second. */
  workspaceFiles: number
  /** What a tool says, progress included. `-v trace` says some megabytes a second. */
  logBytes: number
}

/** Limits that suit this machine. */
export const DEFAULT_LIMITS: Limits = {
  memoryBytes: Math.min(16 * GIB, Math.max(4 * GIB, 2 * totalmem())),
  fileBytes: 4 * GIB,
  cpuSeconds: null,
  openFiles: 512,
  threads: 512,
  workspaceBytes: 8 * GIB,
  workspaceFiles: 5000,
  logBytes: 64 * MIB,
}

/** A second net below the wall clock: nothing earns more processor time than all cores give. */
export function cpuSecondsOf({ cpuSeconds }: Limits, timeLimitMs: number): number {
  return cpuSeconds ?? Math.ceil((timeLimitMs / 1000) * availableParallelism()) + 1
}
