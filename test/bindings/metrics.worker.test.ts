import { env } from "cloudflare:workers"
import { createExecutionContext } from "cloudflare:test"
import { describe, expect, it, vi } from "vitest"
import { app } from "../../src/app.ts"
import type { Env } from "../../src/bindings/env.ts"
import { countMetricEvent, metricsRegistry, toDataPoint } from "../../src/bindings/metrics.ts"
import { fetchWorker, makeCaller } from "../support/caller.ts"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"

const bearer = { authorization: `Bearer ${env.OPERATOR_TOKEN}` }
const request = {
  event: "request",
  method: "GET",
  route: "/v1/files/:id",
  status: 404,
  durationMs: 12,
} as const

/** Returns the environment of a deployment, without a plain runner. */
function deployed(dataset?: AnalyticsEngineDataset): Env {
  const { METRICS: _, ...others } = env
  return { ...others, ...(dataset && { METRICS: dataset }), RUNNER_ORIGIN: undefined }
}

async function scrape(): Promise<string> {
  return await (await fetchWorker("/metrics", { headers: bearer })).text()
}

describe("/metrics", () => {
  it("answers the operator's token in the text format of Prometheus", async () => {
    const answer = await fetchWorker("/metrics", { headers: bearer })
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(answer.headers.get("cache-control")).toBe("no-store")
    const text = await answer.text()
    expect(text).toContain("# TYPE lathe_requests_total counter")
    expect(text).toContain('lathe_pool_slots{pool="media"} 2')
    expect(text).toContain("lathe_runner_up 0")
    expect(text).toContain('lathe_degraded{reason="runner_unreachable"} 1')
  })

  it("answers a signed-in operator, and no other user", async () => {
    const operator = await makeSignedInUser({ isOperator: true })
    expect((await operator.visit("/metrics")).status).toBe(200)
    const person = await makeSignedInUser()
    expect((await person.visit("/metrics")).status).toBe(401)
  })

  it.each([
    ["nobody", {}],
    ["another token", { authorization: "Bearer another-token-that-is-long-enough-to-be-one" }],
  ])("refuses %s", async (_who, headers) => {
    const answer = await fetchWorker("/metrics", { headers })
    expect(answer.status).toBe(401)
    expect(await answer.text()).not.toContain("lathe_requests_total")
  })

  it("refuses an API key of any scope", async () => {
    const { key } = await makeCaller("metrics of nobody")
    expect((await fetchWorker("/metrics", { headers: { "x-api-key": key } })).status).toBe(401)
  })

  it("allows only GET", async () => {
    expect((await fetchWorker("/metrics", { method: "POST", headers: bearer })).status).toBe(405)
  })

  it("does not exist on Cloudflare", async () => {
    const asked = new Request("https://lathe.test/metrics", { headers: bearer })
    const answer = await app.fetch(asked, deployed(), createExecutionContext())
    expect(answer.status).toBe(404)
  })

  it("counts requests by route and never by path", async () => {
    const { call } = await makeCaller("metrics of routes")
    const id = "01a202e4-d65b-75e3-9fa0-e9116dcbe3d3"
    await call(`/files/${id}`)
    await fetchWorker(`/nowhere/${id}`)
    const text = await scrape()
    expect(text).toMatch(
      /^lathe_requests_total\{method="GET",route="\/v1\/files\/:id",status="4xx"\} \d+$/m,
    )
    expect(text).not.toContain(id)
    expect(text).not.toContain("nowhere")
  })
})

describe("countEvent", () => {
  it("counts in this process on one machine", async () => {
    const job = {
      kind: "command",
      state: "failed",
      errorCode: 'a "b"\n\\',
      waitMs: 1500,
      runMs: null,
    }
    countMetricEvent(env, { event: "job", ...job })
    const text = await metricsRegistry.metrics()
    expect(text).toContain(
      String.raw`lathe_jobs_ended_total{kind="command",state="failed",error_code="a \"b\"\n\\"} 1`,
    )
    expect(text).toContain('lathe_job_wait_seconds_sum{kind="command"} 1.5')
    expect(text).not.toContain('lathe_job_run_seconds_count{kind="command"}')
  })

  it("writes a data point to Analytics Engine on Cloudflare, in the documented order", () => {
    const writeDataPoint = vi.fn<AnalyticsEngineDataset["writeDataPoint"]>()
    countMetricEvent(deployed({ writeDataPoint }), request)
    expect(writeDataPoint).toHaveBeenCalledExactlyOnceWith({
      indexes: ["request"],
      blobs: ["request", "GET", "/v1/files/:id", "4xx"],
      doubles: [1, 12],
    })
  })

  it.each([
    [
      { event: "job", kind: "fetch", state: "succeeded", errorCode: null, waitMs: 1, runMs: 2 },
      { blobs: ["job", "fetch", "succeeded", ""], doubles: [1, 1, 2] },
    ],
    [
      { event: "webhook_try", outcome: "waiting", durationMs: 3 },
      { blobs: ["webhook_try", "waiting"], doubles: [1, 3] },
    ],
    [
      { event: "upload", bytes: 4 },
      { blobs: ["upload"], doubles: [1, 4] },
    ],
    [
      { ...request, method: "BREW" },
      { blobs: ["request", "OTHER", "/v1/files/:id", "4xx"], doubles: [1, 12] },
    ],
  ] as const)("has a fixed order of columns", (happened, columns) => {
    expect(toDataPoint(happened)).toEqual({ indexes: [happened.event], ...columns })
  })

  it("does not throw without a dataset or if the dataset throws", () => {
    const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined)
    countMetricEvent(deployed(), request)
    expect(complaints).not.toHaveBeenCalled()
    function writeDataPoint(): never {
      throw new Error("no more points")
    }
    countMetricEvent(deployed({ writeDataPoint }), request)
    expect(complaints).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("no more points"))
  })
})
