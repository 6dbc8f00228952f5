import { hash } from "node:crypto"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { toNodeRequestListener } from "../../../container/server/node-adapter.ts"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import { startHarness } from "../harness.ts"
import type { Harness } from "../harness.ts"

const PART_BYTES = 10_000

const forever = new Promise<void>(() => {})

let harness: Harness

beforeEach(async () => {
  harness = await startHarness({ outputPartBytes: PART_BYTES })
})

afterEach(() => harness.close())

/** Returns an order for a WAV file of about `seconds` × 16 kB. */
function sound(seconds: number) {
  const words = `-f lavfi -i sine=d=${seconds}:r=8000 {{out_1}}`
  const order = harness.order([words.split(" ")])
  return { ...order, work: { ...order.work, outputs: [{ key: "out_1", name: "out.wav" }] } }
}

function copy(bytes: Uint8Array<ArrayBuffer>) {
  harness.io.inputs.set("in_1", bytes)
  const order = harness.order(["-f u8 -ar 8000 -i in_1 -f u8 out_1".split(" ")])
  return { ...order, work: { ...order.work, outputs: [{ key: "out_1", name: "out.raw" }] } }
}

function noise(length: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, (_, index) => (index * 7919) % 251)
}

test("a large output is uploaded in equal parts", async () => {
  const report = await harness.finish(sound(3))
  const stored = harness.io.outputs.get("out_1")
  expect(report).toMatchObject({
    result: { outputs: [{ size_bytes: stored?.bytes.length, probe: { duration: 3 } }] },
  })
  expect(report).not.toHaveProperty("result.outputs.0.sha256")
  expect(stored?.contentType).toBe("audio/wav")
  expect(stored?.partSizes.slice(0, -1).every((size) => size === PART_BYTES)).toBe(true)
  expect(stored?.partSizes.length).toBe(Math.ceil((stored?.bytes.length ?? 0) / PART_BYTES))
})

test("a small output is uploaded in one request, and reported with its SHA-256", async () => {
  const report = await harness.finish(copy(noise(500)))
  const sha256 = hash("sha256", noise(500))
  expect(report).toMatchObject({ result: { outputs: [{ size_bytes: 500, sha256 }] } })
})

test("an output in parts starts again if the service has other parts of it", async () => {
  const completions: string[] = []
  harness.io.intercept = (call) => {
    if (!call.endsWith("/complete")) return null
    completions.push(call)
    return completions.length === 1 ? new Response(null, { status: 409 }) : null
  }
  expect(await harness.finish(sound(3))).toMatchObject({ kind: "finished" })
  expect(completions.length).toBe(2)
  expect(harness.io.outputs.has("out_1")).toBe(true)
})

test("an output with missing bytes is sent again", async () => {
  const cut = new Set<string>()
  harness.io.intercept = (call) => {
    if (!call.startsWith("PUT ") || cut.has(call)) return null
    cut.add(call)
    return new Response(null, { status: 408 })
  }
  expect(await harness.finish(sound(3))).toMatchObject({ kind: "finished" })
  expect(cut.size).toBeGreaterThan(1)
  expect(harness.io.outputs.has("out_1")).toBe(true)
})

describe("a stalled transfer", () => {
  const IDLE_MS = 2000

  beforeEach(async () => {
    await harness.close()
    harness = await startHarness({ outputPartBytes: PART_BYTES, transferIdleMs: IDLE_MS })
  })

  test("resumes after the last byte of an input", async () => {
    const bytes = noise(1024 * 1024)
    const ranges: (string | undefined)[] = []
    const serve = toNodeRequestListener({
      refuseByHeaders: () => undefined,
      fetch: (request) => harness.io.fetch(request),
    })
    await using server = await startLoopbackServer((incoming, answer) => {
      const isInput = incoming.url?.endsWith("/inputs/in_1")
      if (isInput) ranges.push(incoming.headers.range)
      if (!isInput || ranges.length > 1) return serve(incoming, answer)
      answer.writeHead(200, { "content-length": bytes.length }).write(bytes.subarray(0, 100_000))
    })
    const order = copy(bytes)
    const io = { ...order.io, origin: order.io.origin.replace(harness.ioOrigin, server.origin) }
    expect(await harness.finish({ ...order, io })).toMatchObject({ kind: "finished" })
    expect(ranges).toEqual([undefined, "bytes=100000-"])
    expect(harness.io.outputs.get("out_1")?.bytes).toEqual(bytes)
  })

  test("is sent again if an output gets no response", async () => {
    const stalled: string[] = []
    harness.io.intercept = (call) => {
      if (!call.startsWith("PUT ") || stalled.length > 0) return null
      stalled.push(call)
      return forever.then(() => null)
    }
    expect(await harness.finish(sound(3))).toMatchObject({ kind: "finished" })
    expect(stalled.length).toBe(1)
  })
})

test("an output is uploaded again if the service fails once", async () => {
  const failed = new Set<string>()
  harness.io.intercept = (call) => {
    if (!call.includes("/outputs/") || failed.has(call)) return null
    failed.add(call)
    return new Response(null, { status: 503 })
  }
  expect(await harness.finish(sound(1))).toMatchObject({ kind: "finished" })
  expect(harness.io.outputs.get("out_1")?.bytes.length).toBeGreaterThan(PART_BYTES)
})

test("a transfer is retried while the service fails for some seconds", async () => {
  const failures = new Map<string, number>()
  harness.io.intercept = (call) => {
    const count = failures.get(call) ?? 0
    if (!/puts/.test(call) || count === 4) return null
    failures.set(call, count + 1)
    return new Response(null, { status: 503 })
  }
  const bytes = noise(5000)
  expect(await harness.finish(copy(bytes))).toMatchObject({ kind: "finished" })
  expect(harness.io.outputs.get("out_1")?.bytes).toEqual(bytes)
})

test("an input smaller than its order states is not requested forever", async () => {
  const order = copy(noise(100))
  harness.io.inputs.set("in_1", noise(99))
  expect(await harness.finish(order)).toMatchObject({ failure: { code: "input_failed" } })
  expect(harness.io.requests.filter(({ call }) => call === "GET /inputs/in_1")).toHaveLength(2)
})

test("an interrupted download is resumed, not restarted", async () => {
  const bytes = noise(5000)
  harness.io.intercept = (call, request) =>
    call.startsWith("GET ") && !request.headers.has("range")
      ? new Response(bytes.subarray(0, 1234))
      : null
  expect(await harness.finish(copy(bytes))).toMatchObject({ kind: "finished" })
  const asked = harness.io.requests.filter(({ call }) => call.startsWith("GET "))
  expect(asked.map(({ headers }) => headers.get("range"))).toEqual([null, "bytes=1234-"])
  expect(harness.io.outputs.get("out_1")?.bytes).toEqual(bytes)
})

test("a missing input is the service's failure", async () => {
  const order = copy(noise(100))
  harness.io.missingInputs.add("in_1")
  expect(await harness.finish(order)).toMatchObject({
    kind: "failed",
    blame: "ours",
    failure: { code: "input_failed", message: expect.stringContaining("in_1") },
  })
})

test("an input larger than its order states is refused", async () => {
  const order = copy(noise(100))
  harness.io.inputs.set("in_1", noise(101))
  expect(await harness.finish(order)).toMatchObject({ failure: { code: "input_failed" } })
})

test("the last report is sent again until it is accepted", async () => {
  let refused = 0
  harness.io.intercept = (call) => {
    if (!call.endsWith("/reports") || refused >= 3) return null
    refused += 1
    return new Response(null, { status: 500 })
  }
  expect(await harness.finish(sound(1))).toMatchObject({ kind: "finished" })
})

test("a missing input aborts the download of the others", async () => {
  const order = copy(noise(100))
  const other = { key: "in_2", name: "in_2.mp4", size_bytes: 1 }
  harness.io.missingInputs.add("in_2")
  harness.io.intercept = (call) =>
    call === "GET /inputs/in_1" ? new Response(new ReadableStream({ pull: () => forever })) : null
  const report = await harness.finish({ ...order, inputs: [...order.inputs, other] })
  expect(report).toMatchObject({ failure: { message: expect.stringContaining("in_2") } })
  expect(await harness.workspaces()).toEqual([])
})
