import { execFile } from "node:child_process"
import { promisify } from "node:util"
import pWaitFor from "p-wait-for"
import { afterAll, beforeAll, expect, it } from "vitest"
import { z } from "zod"
import { prometheusStep, PROMETHEUS_PYTHON_PATH } from "../../../scripts/setup/test-tools.ts"
import { ensureSetupSteps } from "../../../scripts/setup/step.ts"
import { openKeyedCall } from "./keyed-call.ts"
import { startReceiver } from "../receiver.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const INSTALL_MS_MAX = 180_000

/** Prometheus' own parser, in its strict form, which throws at whatever is not its format. */
const PARSE = `
import json, sys
from prometheus_client.parser import text_string_to_metric_families as parse
print(json.dumps([
  {"name": s.name, "type": family.type, "labels": s.labels, "value": s.value}
  for family in parse(sys.argv[1]) for s in family.samples
]))
`

const samples = z.array(
  z.object({
    name: z.string(),
    type: z.string(),
    labels: z.record(z.string(), z.string()),
    value: z.number(),
  }),
)

const opened = new AsyncDisposableStack()
let service: TestService

beforeAll(async () => {
  await ensureSetupSteps([prometheusStep])
  service = opened.use(await startService({ ALLOWED_PRIVATE_HOSTS: "127.0.0.1" }))
}, INSTALL_MS_MAX)

afterAll(async () => await opened.disposeAsync())

/** Samples as Prometheus reads them; returns the value of the sample with these labels. */
async function scrape() {
  const headers = { authorization: `Bearer ${service.operator.token}` }
  const text = await (await fetch(`${service.origin}/metrics`, { headers })).text()
  const { stdout } = await promisify(execFile)(PROMETHEUS_PYTHON_PATH, ["-c", PARSE, text])
  const read = samples.parse(JSON.parse(stdout))
  return (name: string, labels: Record<string, string> = {}) =>
    read.find((each) => {
      const entries = Object.entries(labels)
      return each.name === name && entries.every(([label, is]) => each.labels[label] === is)
    })?.value
}

it("counts the work of the service, in a form that Prometheus parses", async () => {
  const receiver = opened.use(await startReceiver())
  const call = openKeyedCall(service, await service.makeKey("metrics"))
  const before = await scrape()
  expect(before("lathe_jobs_ended_total")).toBeUndefined()
  const body = JSON.stringify({
    ffmpeg_command: "ffmpeg -f lavfi -i color=s=16x16 -frames:v 1 {{out_1}}",
    input_files: {},
    output_files: { out_1: "out.png" },
    webhook: receiver.origin,
  })
  const headers = { "content-type": "application/json" }
  expect((await call("/commands", { method: "POST", headers, body })).status).toBe(202)
  await call("/files/nothing")
  const form = new FormData()
  form.set("file", new Blob(["hello"]), "hello.txt")
  await call("/files", { method: "POST", body: form })
  await receiver.untilReceived(1)
  let after = await scrape()
  await pWaitFor(
    async () => {
      after = await scrape()
      return after("lathe_webhook_tries_total", { outcome: "delivered" }) === 1
    },
    { interval: 100 },
  )
  const command = { kind: "command" }
  expect(after("lathe_jobs_ended_total", { ...command, state: "succeeded" })).toBe(1)
  expect(after("lathe_job_run_seconds_count", command)).toBe(1)
  expect(after("lathe_job_wait_seconds_bucket", { ...command, le: "+Inf" })).toBe(1)
  expect(after("lathe_upload_bytes_total")).toBe(5)
  const create = { method: "POST", route: "/v1/commands", status: "2xx" }
  expect(after("lathe_requests_total", create)).toBe(1)
  expect(after("lathe_requests_total", { route: "/v1/files/:id", status: "4xx" })).toBe(1)
  expect(after("lathe_runner_up")).toBe(1)
  expect(after("lathe_storage_bytes")).toBeGreaterThan(5)
  expect(after("lathe_pool_slots", { pool: "media" })).toBe(2)
  expect(after("lathe_database_bytes")).toBeGreaterThan(0)
  expect(after("lathe_disk_free_bytes")).toBeGreaterThan(0)
})

it("is hidden from other callers", async () => {
  const answer = await fetch(`${service.origin}/metrics`)
  expect(answer.status).toBe(401)
})
