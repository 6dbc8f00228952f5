import { sumOf } from "../counted/counts.ts"
import type { Counts } from "../counted/counts.ts"

// Limits of the platform, as its documents have them in November 2026:
// https://developers.cloudflare.com/d1/platform/limits/, …/queues/platform/limits/,
// …/durable-objects/platform/limits/ and …/containers/platform-details/.

/** A database does one statement after the other; a small one takes about a millisecond. */
const D1_STATEMENTS_PER_SECOND = 1_000
const D1_BYTES_MAX = 10e9
const QUEUE_MESSAGES_PER_SECOND = 5_000
/** Soft: above it an object answers that it is overloaded. */
const OBJECT_REQUESTS_PER_SECOND = 1_000
/** Concurrently, in an account. */
const CONTAINERS_VCPU = 1_500
const STANDARD_4_VCPU = 4
const EXAMPLE_JOBS_PER_MINUTE = 10_000
const MINUTES_PER_DAY = 1_440

/** Where each limit of the platform would be reached by jobs like these: rows of a table. */
export function reckonLimits(counts: Counts, jobs: number): string[][] {
  const ms = (counts["d1.ms"] ?? 0) / jobs
  const statements = (counts["d1.statements"] ?? 0) / jobs
  const bytes = (counts["d1.bytes"] ?? 0) / jobs
  const pool = sumOf(counts, /^object\.Pool\.(?:requests|alarms)$/) / jobs
  const dispatcher = sumOf(counts, /^object\.Dispatcher\.(?:requests|alarms)$/) / jobs
  const limiter = sumOf(counts, /^object\.RateLimiter\.(?:requests|alarms)$/) / jobs
  const messages = sumOf(counts, /^queue\.(?:JOBS|WEBHOOKS)$/) / jobs
  const kept = D1_BYTES_MAX / bytes
  return [
    ["limit", "a job takes", "is reached at"],
    [
      "D1: one statement after the other, 1 ms each",
      `${statements.toFixed(1)} statements`,
      perMinute(D1_STATEMENTS_PER_SECOND / statements),
    ],
    ["D1: the same, as long as SQLite took here", `${ms.toFixed(1)} ms`, perMinute(1000 / ms)],
    [
      "D1: 10 GB a database",
      `${bytes.toFixed(0)} bytes`,
      `${format(kept)} jobs kept; ${(kept / EXAMPLE_JOBS_PER_MINUTE / MINUTES_PER_DAY).toFixed(1)} days of ${format(EXAMPLE_JOBS_PER_MINUTE)} a minute`,
    ],
    [
      "Queues: 5,000 messages a second each",
      `${messages.toFixed(2)} messages`,
      perMinute(QUEUE_MESSAGES_PER_SECOND / messages),
    ],
    objectRow("a pool's object", pool, "of one pool"),
    objectRow("an account's dispatcher", dispatcher, "of one account"),
    objectRow("a key's limiter", limiter, "of one key"),
    [
      "Containers: 1,500 vCPU, standard-4, 10 s a job",
      "10 s of 4 vCPU",
      perMinute(CONTAINERS_VCPU / STANDARD_4_VCPU / 10),
    ],
  ]
}

function objectRow(name: string, requests: number, of: string): string[] {
  return [
    `Durable Objects: 1,000 requests a second, ${name}`,
    `${requests.toFixed(1)} requests`,
    `${perMinute(OBJECT_REQUESTS_PER_SECOND / requests)} ${of}`,
  ]
}

function perMinute(perSecond: number): string {
  return Number.isFinite(perSecond) ? `${format(perSecond * 60)} jobs a minute` : "never"
}

/** Two digits that count. */
function format(value: number): string {
  return Number(value.toPrecision(2)).toLocaleString("en")
}
