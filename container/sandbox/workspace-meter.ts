import { spawn } from "node:child_process"
import { lstatSync, readdirSync } from "node:fs"
import type { Stats } from "node:fs"
import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"
import { readStreamLines } from "./tool-output.ts"
import { LAUNCHER_PROGRAMS } from "./launcher-programs.ts"
import type { SandboxTier } from "./tiers/tier.ts"

export type WorkspaceUsage = { bytes: number; files: number }

/** Meter of the disk usage of a workspace, which must be closed after use. */
export type WorkspaceMeter = {
  /** Measures a workspace that may change, because a tool is running in it. */
  measure(): Promise<WorkspaceUsage>
  /** Measures a workspace that no longer changes, which takes less time. */
  measureAtRest(): Promise<WorkspaceUsage>
  close(): void
}

/** Disk usage of a workspace that cannot be measured. This value exceeds every limit. */
const UNKNOWN: WorkspaceUsage = { bytes: Number.POSITIVE_INFINITY, files: Number.POSITIVE_INFINITY }

const BLOCK_BYTES = 512

/**
 * Maximum number of files that file system calls of Node measure faster than the separate meter
 * program.
 */
const FEW_FILES_MAX = 32

/**
 * Creates the meter of a workspace. The disk usage is Infinity if the workspace contains a
 * subfolder or an entry that cannot be measured. Counting stops when there are more than `filesMax`
 * files. A sparse file counts with its full size, since a reader gets that many bytes. A file with
 * several hard links counts once.
 */
export function createWorkspaceMeter(
  tier: SandboxTier,
  folder: string,
  filesMax: number,
): WorkspaceMeter {
  return tier === "none" ? meterByNames(folder, filesMax) : meterByProgram(folder, filesMax)
}

/**
 * Maximum number of starts of the meter program for a workspace. The kernel may kill the program
 * when memory is short.
 */
const PROGRAMS_MAX = 5

/**
 * Returns a meter that uses the meter program. The program starts at the first measurement, because
 * many tools end before their workspace is measured.
 */
function meterByProgram(cwd: string, filesMax: number): WorkspaceMeter {
  let programs = 0
  let isClosed = false
  let current: ReturnType<typeof startProgram> | null = null
  async function measure(): Promise<WorkspaceUsage> {
    for (;;) {
      const usage = await current?.measure()
      if (usage) return usage
      if (isClosed || programs >= PROGRAMS_MAX) return UNKNOWN
      programs += 1
      current = startProgram(cwd, filesMax)
    }
  }
  return {
    measure,
    measureAtRest: async () => measureFew(cwd, filesMax) ?? (await measure()),
    close() {
      isClosed = true
      current?.close()
    },
  }
}

/**
 * Starts the meter program, which measures the workspace once for each byte on its stdin: see
 * container/launcher/meter.c. `measure` resolves with null if the program has ended or could not be
 * started.
 */
function startProgram(cwd: string, filesMax: number) {
  const waiting: ((usage: WorkspaceUsage | null) => void)[] = []
  const child = spawn(LAUNCHER_PROGRAMS.meter, [String(filesMax)], {
    cwd,
    stdio: ["pipe", "pipe", "ignore"],
    env: {},
  })
  let hasEnded = false
  readStreamLines(child.stdout, (line) => waiting.shift()?.(readUsage(line)))
  function end(): void {
    hasEnded = true
    for (const answer of waiting.splice(0)) answer(null)
  }
  child.once("error", end).once("close", end)
  // Ignores errors of writes to a program that has ended, since `end` resolves all pending
  // requests.
  child.stdin.on("error", () => undefined)
  return {
    measure(): Promise<WorkspaceUsage | null> {
      if (hasEnded) return Promise.resolve(null)
      const { promise, resolve } = Promise.withResolvers<WorkspaceUsage | null>()
      waiting.push(resolve)
      child.stdin.write("\n")
      return promise
    },
    close: () => child.stdin.end(),
  }
}

function readUsage(line: string): WorkspaceUsage {
  const [, bytes, files] = /^(\d+) (\d+)$/.exec(line) ?? []
  return bytes === undefined ? UNKNOWN : { bytes: Number(bytes), files: Number(files) }
}

/**
 * Returns a meter for systems without a sandbox, which lack the meter program. A tool that
 * continuously renames its files can hide these files from the meter.
 */
function meterByNames(folder: string, filesMax: number): WorkspaceMeter {
  function measure(): Promise<WorkspaceUsage> {
    return measureFolderUsage(folder, filesMax).catch(() => UNKNOWN)
  }
  return {
    measure,
    measureAtRest: async () => measureFew(folder, filesMax) ?? (await measure()),
    close: () => undefined,
  }
}

/** Measures the disk usage of a folder once. Throws if the folder cannot be read. */
export async function measureFolderUsage(
  folder: string,
  filesMax: number,
): Promise<WorkspaceUsage> {
  // Reads names as bytes, because a name that is not UTF-8 cannot be represented as a string.
  const names = await readdir(folder, { encoding: "buffer" })
  if (names.length > filesMax) return { bytes: 0, files: names.length }
  const all: (Stats | null)[] = []
  for (const name of names) all.push(await lstat(pathOf(folder, name)).catch(ignoreMissing))
  return sumUp(all)
}

/**
 * Measures synchronously a folder that no longer changes. Returns null if the folder has many files
 * or cannot be read.
 */
function measureFew(folder: string, filesMax: number): WorkspaceUsage | null {
  try {
    const names = readdirSync(folder, { encoding: "buffer" })
    if (names.length > filesMax) return { bytes: 0, files: names.length }
    if (names.length > FEW_FILES_MAX) return null
    return sumUp(names.map((name) => lstatSync(pathOf(folder, name))))
  } catch {
    return null
  }
}

function sumUp(all: readonly (Stats | null)[]): WorkspaceUsage {
  let bytes = 0
  const shared = new Set<number>()
  for (const stats of all) {
    if (stats?.isDirectory()) return UNKNOWN
    if (!stats || shared.has(stats.ino)) continue
    if (stats.nlink > 1) shared.add(stats.ino)
    bytes += Math.max(stats.size, stats.blocks * BLOCK_BYTES)
  }
  return { bytes, files: all.length }
}

function pathOf(folder: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(join(folder, "/")), name])
}

/** Returns null for the error of a file that was removed meanwhile; rethrows other errors. */
function ignoreMissing(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null
  throw error
}
