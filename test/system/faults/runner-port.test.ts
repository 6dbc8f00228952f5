import { expect, it } from "vitest"
import { makeRunnerHeaders } from "../../../src/contract/protocol.ts"
import { findRunner, killAll, readEnvironment } from "../../faults/processes.ts"
import { startService } from "../service.ts"

const OPERATORS_OWN = "a-token-that-the-operator-once-exported"
const ANSWER_MS_MAX = 20_000

it("has a runner that only the Worker can call, also a second runner", async () => {
  await using service = await startService({ RUNNER_TOKEN: OPERATORS_OWN, RUNNER_CAPACITY: "1" })
  const key = await service.makeKey("one")
  const runner = findRunner(service.pid)
  const { RUNNER_PORT: port, RUNNER_TOKEN: token = "" } = readEnvironment(runner ?? 0)
  expect(token.length).toBeGreaterThanOrEqual(32)
  expect(token).not.toBe(OPERATORS_OWN)
  const id = crypto.randomUUID()
  async function ask(method: string, path: string, sent?: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: makeRunnerHeaders(sent),
      ...(method === "POST" && { body: "{}" }),
    })
    await answer.body?.cancel()
    return answer.status
  }
  for (const sent of [undefined, OPERATORS_OWN, token.slice(0, -1)]) {
    expect(await ask("POST", "/tasks", sent)).toBe(401)
    expect(await ask("DELETE", `/tasks/${id}?fence=9`, sent)).toBe(401)
    expect(await ask("GET", `/tasks/${id}`, sent)).toBe(401)
    expect(await ask("GET", "/health", sent)).toBe(401)
  }
  expect(await ask("POST", "/tasks", token)).toBe(400)
  expect(await ask("GET", "/health", token)).toBe(200)

  killAll([runner])
  await expect
    .poll(() => ask("GET", "/health", token).catch(() => 0), { timeout: ANSWER_MS_MAX })
    .toBe(200)
  expect(findRunner(service.pid)).not.toBe(runner)
  const made = await fetch(`${service.origin}/v1/commands`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json", prefer: "wait=20" },
    body: JSON.stringify({
      ffmpeg_command: "ffmpeg -f lavfi -i testsrc=size=64x64:rate=10 -t 1 {{out_1}}",
      input_files: {},
      output_files: { out_1: "out.mp4" },
    }),
  })
  expect(await made.json()).toMatchObject({ status: "success" })
})

it("has a runner whose environment grants no operator route except its announcement", async () => {
  await using service = await startService({ RUNNER_CAPACITY: "1" })
  const environment = readEnvironment(findRunner(service.pid) ?? 0)
  async function ask(method: string, path: string, token: string): Promise<number> {
    const answer = await fetch(`${service.origin}/operator${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(method === "POST" && { body: JSON.stringify({ boot: "b", account: "stolen" }) }),
    })
    await answer.body?.cancel()
    return answer.status
  }
  const opened: string[] = []
  for (const [name, value] of Object.entries(environment)) {
    if (!/^[\x21-\x7e]+$/.test(value)) continue
    for (const [method, path] of [
      ["GET", "/keys"],
      ["POST", "/keys"],
      ["DELETE", `/keys/${crypto.randomUUID()}`],
      ["POST", "/runner-up"],
    ] as const) {
      if ((await ask(method, path, value)) !== 401) opened.push(`${name}: ${method} ${path}`)
    }
  }
  expect(opened).toEqual(["ANNOUNCE_TOKEN: POST /runner-up"])
  expect(await ask("POST", "/runner-up", environment["ANNOUNCE_TOKEN"] ?? "")).toBe(200)
  expect(await ask("POST", "/runner-up", service.operator.token)).toBe(401)
  expect(await ask("GET", "/keys", service.operator.token)).toBe(200)
})
