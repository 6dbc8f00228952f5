import { describe } from "vitest"
import type { IoUnderTest } from "../contracts/io-caller.ts"
import { testIoRoutes } from "../contracts/io-routes.ts"
import { testPartRoutes } from "../contracts/io-part-routes.ts"
import { testResumableRoutes } from "../contracts/io-resumable-routes.ts"
import { resumablePlace } from "../support/io-resumable.ts"
import { makeIoServer } from "../support/io-server.ts"

function openStandIn(): Promise<IoUnderTest> {
  const io = makeIoServer("a-token")
  const taskId = crypto.randomUUID()
  const bytes = new TextEncoder().encode("what a runner reads")
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
    readResumable: (key) => Promise.resolve(io.outputs.get(resumablePlace(key)) ?? null),
    endRun() {
      io.isRunOver = true
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  })
}

// The runner's tests are worth only as much as the stand-in that they run against.
describe("the stand-in for the Worker's I/O routes", () => {
  testIoRoutes(openStandIn)
  testPartRoutes(openStandIn)
  testResumableRoutes(openStandIn)
})
