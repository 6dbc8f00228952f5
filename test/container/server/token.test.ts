import { once } from "node:events"
import { connect } from "node:net"
import { expect, test } from "vitest"
import { explainUnsafeListenHost, parseRunnerEnvironment } from "../../../container/settings.ts"
import {
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  makeRunnerHeaders,
} from "../../../src/contract/protocol.ts"
import { ENDLESS, startHarness } from "../harness.ts"

const TOKEN = "a-token-of-this-start-of-the-runner"

test("a runner with a token answers no request without it", async () => {
  const harness = await startHarness({ token: TOKEN })
  try {
    const order = harness.order([ENDLESS])
    expect((await harness.call("POST", "/tasks", order)).status).toBe(202)
    const task = `/tasks/${order.task_id}`
    const { url } = await harness.call("GET", "/health")
    const routes = [
      ["POST", "/tasks"],
      ["GET", task],
      ["DELETE", `${task}?fence=1`],
      ["GET", "/health"],
      ["GET", "/nothing"],
    ] as const
    const wrong = [undefined, TOKEN, `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(0, -1)}`, "Bearer "]
    for (const [method, path] of routes) {
      for (const authorization of wrong) {
        const answer = await fetch(new URL(path, url), {
          method,
          headers: {
            [PROTOCOL_HEADER]: PROTOCOL_VERSION,
            ...(authorization !== undefined && { authorization }),
          },
          ...(method === "POST" && { body: JSON.stringify(harness.order([ENDLESS])) }),
        })
        expect([method, path, answer.status, await answer.text()]).toEqual([
          method,
          path,
          401,
          '{"error":"token"}',
        ])
      }
    }
    const health = await harness.call("GET", "/health")
    expect(await health.json()).toMatchObject({ status: "ok", running: 1 })
    expect(await (await harness.call("GET", task)).json()).toMatchObject({ state: "running" })
    const killed = await harness.call("DELETE", `${task}?fence=1`)
    expect(await killed.json()).toEqual({ killed: true })
  } finally {
    await harness.close()
  }
})

test("requests to a runner without a token carry none", () => {
  expect(makeRunnerHeaders(null)).toEqual({ [PROTOCOL_HEADER]: PROTOCOL_VERSION })
})

test.each(["127.0.0.1", "127.8.9.1", "::1", "localhost"])(
  "a runner without a token may listen on %s",
  (host) => {
    expect(explainUnsafeListenHost(host, null)).toBeNull()
  },
)

test.each(["0.0.0.0", "::", "10.0.0.7", "127.example.com", "runner"])(
  "a runner without a token may not listen on %s, one with a token may",
  (host) => {
    expect(explainUnsafeListenHost(host, null)).toContain("set RUNNER_TOKEN")
    expect(explainUnsafeListenHost(host, TOKEN)).toBeNull()
  },
)

test.each(["", "short"])("the token %j is too short", (token) => {
  expect(() => parseRunnerEnvironment({ RUNNER_TOKEN: token })).toThrow("RUNNER_TOKEN")
})

test("a runner refuses a request without the token before it reads the body", async () => {
  const harness = await startHarness({ token: TOKEN })
  const socket = connect(Number(new URL(harness.runnerOrigin).port), "127.0.0.1")
  try {
    socket.write(
      "POST /tasks HTTP/1.1\r\nHost: runner\r\nContent-Length: 8388607\r\n\r\nthe beginning of a body",
    )
    const [first] = await once(socket, "data")
    expect(String(first)).toMatch(/^HTTP\/1\.1 401 /)
  } finally {
    socket.destroy()
    await harness.close()
  }
})
