import { Counter, Histogram, Registry } from "prom-client"
import { getSettings } from "./env.ts"
import type { Env } from "./env.ts"
import { logError } from "../platform/log.ts"

/**
 * Event that the metrics count. `route` is a pattern instead of a path, because ids in paths would
 * create an unlimited number of labels.
 */
export type MetricEvent =
  | { event: "request"; method: string; route: string; status: number; durationMs: number }
  | {
      event: "job"
      kind: string
      state: string
      errorCode: string | null
      /**
       * Time from the creation of the job to its first run, or to its end if the job never ran, in
       * milliseconds.
       */
      waitMs: number
      /**
       * Time from the first run of the job to its end, in milliseconds; null if the job never ran.
       */
      runMs: number | null
    }
  | { event: "webhook_try"; outcome: string; durationMs: number }
  | { event: "upload"; bytes: number }

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
const QUICK_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const SLOW_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600]

/**
 * Prometheus metrics of this process, which are zero when the process starts. On one machine the
 * metrics are complete, because a single isolate runs the Worker and its Durable Objects.
 */
export const metricsRegistry = new Registry()

const requests = counter("lathe_requests_total", "Answered requests.", [
  "method",
  "route",
  "status",
])
const requestSeconds = histogram(
  "lathe_request_duration_seconds",
  "Seconds from a request to the start of its answer.",
  { labelNames: ["route"], buckets: QUICK_SECONDS },
)
const jobs = counter("lathe_jobs_ended_total", "Jobs that ended.", ["kind", "state", "error_code"])
const jobWaits = histogram(
  "lathe_job_wait_seconds",
  "Seconds from the creation of a job to its first run, or to its end without a run.",
  { labelNames: ["kind"], buckets: SLOW_SECONDS },
)
const jobRuns = histogram(
  "lathe_job_run_seconds",
  "Seconds from the first run of a job to its end.",
  {
    labelNames: ["kind"],
    buckets: SLOW_SECONDS,
  },
)
const webhookTries = counter(
  "lathe_webhook_tries_total",
  "Tries of webhooks, by the state of their deliveries afterwards.",
  ["outcome"],
)
const webhookSeconds = histogram(
  "lathe_webhook_try_duration_seconds",
  "Seconds from a try of a webhook to the end of its answer.",
  { labelNames: [], buckets: QUICK_SECONDS },
)
const uploads = counter("lathe_uploads_total", "Uploaded files.", [])
const uploadBytes = counter("lathe_upload_bytes_total", "Bytes of uploaded files.", [])

/**
 * Counts an event in Analytics Engine on Cloudflare, or in this process on one machine. Never
 * throws an error.
 */
export function countMetricEvent(env: Env, happened: MetricEvent): void {
  try {
    if (getSettings(env).RUNNER_ORIGIN === undefined) {
      env.METRICS?.writeDataPoint(toDataPoint(happened))
    } else countHere(happened)
  } catch (error) {
    logError("metrics.not_counted", { counted: happened.event, error })
  }
}

function countHere(happened: MetricEvent): void {
  if (happened.event === "request") {
    const { method, route, status, durationMs } = happened
    requests.inc({ method: methodOf(method), route, status: classOf(status) })
    requestSeconds.observe({ route }, durationMs / 1000)
  } else if (happened.event === "job") {
    const { kind, state, errorCode, waitMs, runMs } = happened
    jobs.inc({ kind, state, error_code: errorCode ?? "" })
    jobWaits.observe({ kind }, waitMs / 1000)
    if (runMs !== null) jobRuns.observe({ kind }, runMs / 1000)
  } else if (happened.event === "webhook_try") {
    webhookTries.inc({ outcome: happened.outcome })
    webhookSeconds.observe(happened.durationMs / 1000)
  } else {
    uploads.inc()
    uploadBytes.inc(happened.bytes)
  }
}

/**
 * Converts an event to a data point of Analytics Engine. The index and the first blob are the
 * event's name, and the first double is 1. docs/operate/observe.md lists the other columns. Their
 * order must not change.
 */
export function toDataPoint(happened: MetricEvent): AnalyticsEngineDataPoint {
  const [blobs, doubles] = columnsOf(happened)
  return { indexes: [happened.event], blobs: [happened.event, ...blobs], doubles: [1, ...doubles] }
}

function columnsOf(happened: MetricEvent): [string[], number[]] {
  switch (happened.event) {
    case "request": {
      const { method, route, status, durationMs } = happened
      return [[methodOf(method), route, classOf(status)], [durationMs]]
    }
    case "job": {
      const { kind, state, errorCode, waitMs, runMs } = happened
      return [
        [kind, state, errorCode ?? ""],
        [waitMs, runMs ?? 0],
      ]
    }
    case "webhook_try":
      return [[happened.outcome], [happened.durationMs]]
    case "upload":
      return [[], [happened.bytes]]
  }
}

function methodOf(method: string): string {
  return METHODS.has(method) ? method : "OTHER"
}

function classOf(status: number): string {
  return `${Math.floor(status / 100)}xx`
}

function counter<Label extends string>(name: string, help: string, labelNames: Label[]) {
  return new Counter({ name, help, labelNames, registers: [metricsRegistry] })
}

function histogram<Label extends string>(
  name: string,
  help: string,
  { labelNames, buckets }: { labelNames: Label[]; buckets: number[] },
) {
  return new Histogram({ name, help, labelNames, buckets, registers: [metricsRegistry] })
}
