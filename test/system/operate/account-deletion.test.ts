import { afterAll, expect, test } from "vitest"
import { z } from "zod"
import { startServiceProcess } from "../../../scripts/cli/service-process.ts"
import type { ServiceProcess } from "../../../scripts/cli/service-process.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { startReceiver } from "../receiver.ts"
import { countObjects, countOfAccount, countUploads } from "./state-rows.ts"

/** More than one call of the dispatcher cancels. */
const JOBS = 60
const FILES = 3
/** The service starts twice. */
const POLL = { timeout: 30_000, interval: 200 }
const TABLES = ["jobs", "tasks", "files", "deliveries", "usage_days", "idempotency"]

const started = new AsyncDisposableStack()
afterAll(async () => await started.disposeAsync())

async function start(stateDir: string, sweepSeconds: string): Promise<ServiceProcess> {
  const settings = {
    ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
    RUNNER_CAPACITY: "1",
    SWEEP_SECONDS: sweepSeconds,
  }
  return started.use(await startServiceProcess({ stateDir, settings, echoesErrors: true }))
}

async function submit(origin: string, key: string, webhook: string): Promise<string> {
  const answer = await fetch(`${origin}/v1/commands`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({
      ffmpeg_command: "ffmpeg -re -f lavfi -i testsrc=size=64x64:rate=10 -t 120 {{out_1}}",
      input_files: {},
      output_files: { out_1: "out.mp4" },
      webhook,
    }),
  })
  expect(answer.status).toBe(202)
  return z.object({ command_id: z.string() }).parse(await answer.json()).command_id
}

async function upload(origin: string, key: string): Promise<void> {
  const body = new FormData()
  body.append("file", new File([new Uint8Array(100_000)], "zeros.bin"))
  const headers = { "x-api-key": key }
  const answer = await fetch(`${origin}/v1/files`, { method: "POST", headers, body })
  expect(answer.status).toBe(201)
}

async function askOperator(service: ServiceProcess, method: string, path: string) {
  const headers = { authorization: `Bearer ${service.operator.token}` }
  return await fetch(`${service.origin}/operator${path}`, { method, headers })
}

async function accountOf(service: ServiceProcess, name: string): Promise<string> {
  const answer = await askOperator(service, "GET", `/accounts?name=${name}`)
  const { accounts } = z
    .object({ accounts: z.array(z.object({ id: z.string() })) })
    .parse(await answer.json())
  return accounts[0]?.id ?? ""
}

test("a deletion completes although the service is killed meanwhile, and every job sends its webhook", async () => {
  const receiver = started.use(await startReceiver())
  const { path: stateDir } = started.use(await makeTempFolder("deletion"))
  const first = await start(stateDir, "3600")
  const key = await first.makeKey("leaving")
  const kept = await first.makeKey("staying")
  await upload(first.origin, kept)
  for (let count = 0; count < FILES; count += 1) await upload(first.origin, key)
  const jobs: string[] = []
  for (let count = 0; count < JOBS; count += 1) {
    jobs.push(await submit(first.origin, key, `${receiver.origin}/ended`))
  }
  const [leaving, staying] = [await accountOf(first, "leaving"), await accountOf(first, "staying")]
  expect((await askOperator(first, "DELETE", `/accounts/${leaving}`)).status).toBe(200)
  // A try that dies with the service is made again when its claim is over, a minute later.
  await expect
    .poll(() => countOfAccount(stateDir, "deliveries", leaving, "state = 'waiting'"), POLL)
    .toBe(0)
  process.kill(first.pid, "SIGKILL")
  expect(countOfAccount(stateDir, "jobs", leaving)).toBe(JOBS + FILES)
  expect(countOfAccount(stateDir, "deliveries", leaving)).toBeLessThan(JOBS)

  const second = await start(stateDir, "1")
  const headers = { "x-api-key": key }
  expect((await fetch(`${second.origin}/v1/files`, { headers })).status).toBe(401)
  await receiver.untilReceived(JOBS)
  const ended = receiver.received.map(({ body }) =>
    z.object({ type: z.string(), data: z.object({ id: z.string() }) }).parse(JSON.parse(body)),
  )
  expect(new Set(ended.map(({ type }) => type))).toEqual(new Set(["command.canceled"]))
  expect(new Set(ended.map(({ data }) => data.id))).toEqual(new Set(jobs))
  function left(): Record<string, number> {
    return Object.fromEntries(
      TABLES.map((table) => [table, countOfAccount(stateDir, table, leaving)]),
    )
  }
  await expect.poll(left, POLL).toEqual(Object.fromEntries(TABLES.map((table) => [table, 0])))
  expect([countUploads(stateDir), countObjects(stateDir)]).toEqual([0, 1])
  expect(countOfAccount(stateDir, "files", staying)).toBe(1)
})
