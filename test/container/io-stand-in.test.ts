import { describe } from "vitest"
import type { IoUnderTest } from "../suites/io-caller.ts"
import { testIoRoutes } from "../suites/io-routes.ts"
import { testPartRoutes } from "../suites/io-part-routes.ts"
import { testResumableRoutes } from "../suites/io-resumable-routes.ts"
import { makeResumableOutputKey } from "../support/runner/io-resumable.ts"
import { makeFakeIoServer } from "../support/runner/io-server.ts"

function openStandIn(): Promise<IoUnderTest> {
  const io = makeFakeIoServer("a-token")
  const taskId = crypto.randomUUID()
  const bytes = new TextEncoder().encode("reads of a runner")
  io.taskId = taskId
  io.inputs.set("in_1", bytes)
  io.outputKeys = new Set(["out_1", "out_2"])
  return Promise.resolve({
    fetch: (path, init) => io.fetch(new Request(new URL(path, "http://worker"), init)),
    taskId,
    token: io.token,
    boot: "the-boot-of-a-runner",
    input: { key: "in_1", bytes },
    outputKeys: ["out_1", "out_2"],
    readStored(key, member) {
      const place = member === undefined ? key : `${key}/${member}`
      return Promise.resolve(io.outputs.get(place) ?? null)
    },
    readResumable: (key) => Promise.resolve(io.outputs.get(makeResumableOutputKey(key)) ?? null),
    endRun() {
      io.isRunOver = true
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  })
}

// The runner's tests rely on this stand-in, so it must pass the suite of the real routes.
describe("the stand-in for the Worker's I/O routes", () => {
  testIoRoutes(openStandIn)
  testPartRoutes(openStandIn)
  testResumableRoutes(openStandIn)
})
