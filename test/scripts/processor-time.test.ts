import { execFileSync } from "node:child_process"
import { expect, it } from "vitest"
import { endedMs, familyMs } from "../../scripts/bench/short/processor-time.ts"

/** A process that ends once it has used so much of a processor, however long that takes. */
const BUSY_MS = 100
const BUSY = `while (process.cpuUsage().user < ${BUSY_MS * 1000}) {}`

it.runIf(process.platform === "linux")("counts processes that ended", () => {
  const before = { ended: endedMs(), family: familyMs(process.pid) }
  execFileSync(process.execPath, ["--eval", BUSY])
  expect(endedMs() - before.ended).toBeGreaterThanOrEqual(BUSY_MS)
  expect(familyMs(process.pid) - before.family).toBeGreaterThanOrEqual(BUSY_MS)
})

it("knows of no time of a process that there is none of", () => {
  expect(familyMs(2 ** 30)).toBe(0)
})
