import { afterEach, beforeEach, expect, test } from "vitest"
import { openIoClient } from "../../../container/transfer/io-client.ts"
import { openReporter } from "../../../container/transfer/reporter.ts"
import type { Reporter } from "../../../container/transfer/reporter.ts"
import { makeIoServer } from "../../support/io-server.ts"
import type { IoServer } from "../../support/io-server.ts"
import { listen, makeOrder, waitFor } from "../harness.ts"

const ENDED = { kind: "interrupted", processing_seconds: 1 } as const

let io: IoServer
let reporter: Reporter
let close: () => void

beforeEach(async () => {
  io = makeIoServer("a-token")
  const server = await listen({ fetch: (request) => io.fetch(request) })
  const kill = new AbortController()
  const order = makeOrder({ io, ioOrigin: server.origin, commands: [] })
  reporter = openReporter(
    openIoClient(order, { boot: "a-boot", ioSocket: null, transferIdleMs: 60_000 }, kill),
    "a-boot",
    kill,
  )
  close = () => {
    reporter.close()
    server.close()
  }
})

afterEach(() => close())

test("says of work that lasts that it began, once", async () => {
  reporter.started()
  reporter.started()
  await waitFor(() => io.reports.length > 0)
  reporter.started()
  await reporter.end(ENDED)
  expect(kinds()).toEqual(["started", "interrupted"])
})

test("says of work that ends at once only how it ended", async () => {
  reporter.started()
  await reporter.end(ENDED)
  expect(kinds()).toEqual(["interrupted"])
})

function kinds(): string[] {
  return io.reports.map(({ kind }) => kind)
}
