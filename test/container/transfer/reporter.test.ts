import { afterEach, beforeEach, expect, test } from "vitest"
import { createRunIoClient } from "../../../container/transfer/worker-client.ts"
import { createRunReporter } from "../../../container/transfer/reporter.ts"
import type { RunReporter } from "../../../container/transfer/reporter.ts"
import { makeFakeIoServer } from "../../support/runner/io-server.ts"
import type { FakeIoServer } from "../../support/runner/io-server.ts"
import { listen, makeOrder, waitFor } from "../harness.ts"

const ENDED = { kind: "interrupted", processing_seconds: 1 } as const

let io: FakeIoServer
let reporter: RunReporter
let close: () => void

beforeEach(async () => {
  io = makeFakeIoServer("a-token")
  const server = await listen({ fetch: (request) => io.fetch(request) })
  const kill = new AbortController()
  const order = makeOrder({ io, ioOrigin: server.origin, commands: [] })
  reporter = createRunReporter(
    createRunIoClient(order, { boot: "a-boot", ioSocket: null, transferIdleMs: 60_000 }, kill),
    "a-boot",
    kill,
  )
  close = () => {
    reporter.close()
    server.close()
  }
})

afterEach(() => close())

test("reports the start of long work once", async () => {
  reporter.started()
  reporter.started()
  await waitFor(() => io.reports.length > 0)
  reporter.started()
  await reporter.end(ENDED)
  expect(kinds()).toEqual(["started", "interrupted"])
})

test("reports only the end of work that ends at once", async () => {
  reporter.started()
  await reporter.end(ENDED)
  expect(kinds()).toEqual(["interrupted"])
})

function kinds(): string[] {
  return io.reports.map(({ kind }) => kind)
}
