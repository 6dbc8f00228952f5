import { execFileSync } from "node:child_process"
import { expect, it } from "vitest"
import { cpuTimeOf, familyTimeMs } from "../../scripts/local/processes/process-time.ts"

/** A process that ends once it has used so much of a processor, however long that takes. */
const BUSY_MS = 100
const BUSY = `while (process.cpuUsage().user < ${BUSY_MS * 1000}) {}`

it.runIf(process.platform === "linux")("counts processes that ended", () => {
  const before = { children: cpuTimeOf(process.pid).childrenMs, family: familyTimeMs(process.pid) }
  execFileSync(process.execPath, ["--eval", BUSY])
  const { childrenMs } = cpuTimeOf(process.pid)
  expect(childrenMs - before.children).toBeGreaterThanOrEqual(BUSY_MS)
  expect(familyTimeMs(process.pid) - before.family).toBeGreaterThanOrEqual(BUSY_MS)
})

it("knows of no time of a process that there is none of", () => {
  expect(familyTimeMs(2 ** 30)).toBe(0)
})
