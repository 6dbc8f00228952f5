import { execFile } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { log } from "../log.ts"
import { PROGRAMS } from "./programs.ts"

/** To start a process costs the runner more than to count, so that users are counted together. */
const GATHER_MS = 1000
const USERS_MAX = 500

/** Those who wait for the next count, by the user that they ask for. */
let asking = new Map<number, ((count: number) => void)[]>()

/** Processes of a user, as the kernel counts them; infinitely many where that cannot be found out. */
export function countProcesses(uid: number | null): Promise<number> {
  // Where the runner is not root, its tools share its user, and no id is given to anybody.
  if (uid === null || uid === 0 || process.getuid?.() !== 0) return Promise.resolve(0)
  const { promise, resolve } = Promise.withResolvers<number>()
  if (asking.size === 0) void countSoon()
  asking.set(uid, [...(asking.get(uid) ?? []), resolve])
  return promise
}

async function countSoon(): Promise<void> {
  await sleep(GATHER_MS, undefined, { ref: false })
  const asked = [...asking]
  asking = new Map()
  for (let start = 0; start < asked.length; start += USERS_MAX) {
    const some = asked.slice(start, start + USERS_MAX)
    const counts = await countOf(some.map(([uid]) => uid))
    for (const [index, [uid, resolves]] of some.entries()) {
      const count = counts[index] ?? Number.POSITIVE_INFINITY
      if (count > 0 && Number.isFinite(count)) log("warn", "user.busy", { uid, processes: count })
      for (const resolve of resolves) resolve(count)
    }
  }
}

/** A number for each user; none where they cannot be counted. */
async function countOf(uids: readonly number[]): Promise<number[]> {
  try {
    const words = ["--count", "--", ...uids.map(String)]
    const { stdout } = await promisify(execFile)(PROGRAMS.launcher, words)
    const lines = stdout.trimEnd().split("\n")
    if (lines.length !== uids.length) throw new Error("Not all users were counted.")
    return lines.map((line) => (/^\d+$/.test(line) ? Number(line) : Number.POSITIVE_INFINITY))
  } catch (error) {
    log("warn", "user.busy", { error: String(error) })
    return []
  }
}
