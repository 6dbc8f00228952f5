import { readFileSync } from "node:fs"
import { listFamily } from "../memory.ts"

/** Linux tells times in hundredths of a second, whatever its own clock does. */
const TICK_MS = 10

/** The processor time of a process and all below it, those that ended included, in milliseconds. */
export function familyMs(pid: number): number {
  return listFamily(pid).reduce((sum, each) => sum + ownMs(each.pid) + endedMs(each.pid), 0)
}

/** The processor time of those ended processes that a process, by default this one, started. */
export function endedMs(pid = process.pid): number {
  return sumTicks(pid, [3, 4])
}

function ownMs(pid: number): number {
  return sumTicks(pid, [1, 2])
}

/** Of the fields that begin with utime: 1 and 2 are its own, 3 and 4 those of its ended children. */
function sumTicks(pid: number, fields: number[]): number {
  try {
    const [, times] =
      /\) \S(?: \S+){10} (\d+ \d+ \d+ \d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? []
    const ticks = (times ?? "").split(" ").map(Number)
    return fields.reduce((sum, field) => sum + (ticks[field - 1] ?? 0), 0) * TICK_MS
  } catch {
    return 0
  }
}
