import { execFileSync } from "node:child_process"
import { expect, it } from "vitest"
import { readCpuTime, readProcessTreeCpuMs } from "../../../scripts/cli/processes/process-time.ts"

/** A process that ends once it has used so much of a processor, however long that takes. */
const BUSY_MS = 100
const BUSY = `while (process.cpuUsage().user < ${BUSY_MS * 1000}) {}`

it.runIf(process.platform === "linux")("counts processes that ended", () => {
  const before = {
    children: readCpuTime(process.pid).childrenMs,
    family: readProcessTreeCpuMs(process.pid),
  }
  execFileSync(process.execPath, ["--eval", BUSY])
  const { childrenMs } = readCpuTime(process.pid)
  expect(childrenMs - before.children).toBeGreaterThanOrEqual(BUSY_MS)
  expect(readProcessTreeCpuMs(process.pid) - before.family).toBeGreaterThanOrEqual(BUSY_MS)
})

it("returns no time for a missing process", () => {
  expect(readProcessTreeCpuMs(2 ** 30)).toBe(0)
})
