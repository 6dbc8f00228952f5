import { spawn } from "node:child_process"
import { lstatSync, readdirSync } from "node:fs"
import type { Stats } from "node:fs"
import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"
import { eachLine } from "./output.ts"
import { PROGRAMS } from "./programs.ts"
import type { Tier } from "./tier.ts"

export type Usage = { bytes: number; files: number }

/** Measures one workspace whenever it is asked, until it is closed. */
export type Meter = {
  /** While a tool works there. */
  measure(): Promise<Usage>
  /** Where nothing changes the workspace any more, which costs less. */
  measureAtRest(): Promise<Usage>
  close(): void
}

/** A workspace that cannot be measured exceeds every limit. */
const UNKNOWN: Usage = { bytes: Number.POSITIVE_INFINITY, files: Number.POSITIVE_INFINITY }

const BLOCK_BYTES = 512

/** So many files are looked at before a program could answer. */
const FEW_FILES_MAX = 32

/**
 * Opens the meter of a workspace, which is one flat folder: one with a folder in it, or with
 * anything else that cannot be measured, exceeds every limit. Counting stops above `filesMax`. A
 * sparse file counts with its full size, which is what reading it costs, and one with several names
 * once.
 */
export function openMeter(tier: Tier, folder: string, filesMax: number): Meter {
  return tier === "none" ? meterByNames(folder, filesMax) : meterByProgram(folder, filesMax)
}

/** Somebody may end the program, as the kernel does where memory is short; another one goes on. */
const PROGRAMS_MAX = 5

/** The program starts at the first look, which a tool that ends at once does not live to see. */
function meterByProgram(cwd: string, filesMax: number): Meter {
  let programs = 0
  let isClosed = false
  let current: ReturnType<typeof startProgram> | null = null
  async function measure(): Promise<Usage> {
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
 * The program answers each byte with a line: see container/launcher/meter.c. Null: it has ended, or
 * never began.
 */
function startProgram(cwd: string, filesMax: number) {
  const waiting: ((usage: Usage | null) => void)[] = []
  const child = spawn(PROGRAMS.meter, [String(filesMax)], {
    cwd,
    stdio: ["pipe", "pipe", "ignore"],
    env: {},
  })
  let hasEnded = false
  eachLine(child.stdout, (line) => waiting.shift()?.(readUsage(line)))
  function end(): void {
    hasEnded = true
    for (const answer of waiting.splice(0)) answer(null)
  }
  child.once("error", end).once("close", end)
  // Writing to a program that has ended fails; its end has answered all by then.
  child.stdin.on("error", () => undefined)
  return {
    measure(): Promise<Usage | null> {
      if (hasEnded) return Promise.resolve(null)
      const { promise, resolve } = Promise.withResolvers<Usage | null>()
      waiting.push(resolve)
      child.stdin.write("\n")
      return promise
    },
    close: () => child.stdin.end(),
  }
}

function readUsage(line: string): Usage {
  const [, bytes, files] = /^(\d+) (\d+)$/.exec(line) ?? []
  return bytes === undefined ? UNKNOWN : { bytes: Number(bytes), files: Number(files) }
}

/**
 * For systems without a sandbox, and so without the program. A tool that renames its files all the
 * time can hide them from it.
 */
function meterByNames(folder: string, filesMax: number): Meter {
  function measure(): Promise<Usage> {
    return measureByNames(folder, filesMax).catch(() => UNKNOWN)
  }
  return {
    measure,
    measureAtRest: async () => measureFew(folder, filesMax) ?? (await measure()),
    close: () => undefined,
  }
}

/** Measures a folder once by the names in it; throws where it cannot be read. */
export async function measureByNames(folder: string, filesMax: number): Promise<Usage> {
  // Names are bytes: one that is no UTF-8 has no string that names the file.
  const names = await readdir(folder, { encoding: "buffer" })
  if (names.length > filesMax) return { bytes: 0, files: names.length }
  const all: (Stats | null)[] = []
  for (const name of names) all.push(await lstat(pathOf(folder, name)).catch(ignoreMissing))
  return sumUp(all)
}

/** Measures a folder at rest that has few files, at once; null: it has more, or cannot be read. */
function measureFew(folder: string, filesMax: number): Usage | null {
  try {
    const names = readdirSync(folder, { encoding: "buffer" })
    if (names.length > filesMax) return { bytes: 0, files: names.length }
    if (names.length > FEW_FILES_MAX) return null
    return sumUp(names.map((name) => lstatSync(pathOf(folder, name))))
  } catch {
    return null
  }
}

function sumUp(all: readonly (Stats | null)[]): Usage {
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

/** A file that was removed meanwhile takes no space. */
function ignoreMissing(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null
  throw error
}
