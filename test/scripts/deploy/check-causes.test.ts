import { expect, test } from "vitest"
import { findLikelyFailureCause } from "../../../scripts/deploy/live-check/causes.ts"
import type { FailedLiveCheckStep } from "../../../scripts/deploy/live-check/causes.ts"
import type { RunnerHealth } from "../../../src/contract/runner-health.ts"

const RUNNER: RunnerHealth = {
  sandbox: { ok: true, supported: true, problem: null, loss: null, network_problem: null },
}
const UNSANDBOXED = { sandbox: { ...RUNNER.sandbox, ok: false, problem: "no Landlock" } }

/** A pool in which a job waits, whose container is as it is said. */
function poolWith(
  container: Partial<{ problem: string; health: RunnerHealth }>,
  used = 1,
): FailedLiveCheckStep["health"] {
  const containers = [
    { slot: "media-0", running: false, problem: null, health: null, ...container },
  ]
  const pool = { name: "media", used, waiting_accounts: 1, containers }
  return { reasons: [], runner: null, pools: [pool] }
}

function failedStep(failed: Partial<FailedLiveCheckStep>): FailedLiveCheckStep {
  return { name: "command", message: "", evidence: {}, health: null, ...failed }
}

const QUEUED = { job: "queued", pool: "media" } as const

test.each<[string, Partial<FailedLiveCheckStep>, string]>([
  ["an unknown host name", { message: "x.dev does not respond: getaddrinfo ENOTFOUND" }, "host"],
  ["error 1042", { message: "its first try failed: error code: 1042" }, "global_fetch_strictly"],
  ["error 1102", { message: "was answered 503: error code: 1102" }, "limits.cpu_ms"],
  ["an error page of the edge", { evidence: { status: 413 } }, "limit of a request body"],
  ["an untried webhook", { evidence: { code: "webhook_not_tried" } }, "lathe-webhooks"],
  [
    "a refused webhook",
    { name: "webhook", evidence: { status: 403 } },
    "Access, a firewall rule or a bot challenge",
  ],
  [
    "no instance",
    {
      evidence: QUEUED,
      health: poolWith({ problem: "Maximum number of running container instances exceeded" }),
    },
    "a refused instance",
  ],
  [
    "too many starts",
    {
      evidence: QUEUED,
      health: poolWith({ problem: "Error: 429 too many containers per second" }),
    },
    "starts a second",
  ],
  [
    "no image",
    { evidence: QUEUED, health: poolWith({ problem: "the image is being provisioned" }) },
    "an image that is still being provisioned",
  ],
  [
    "a start that takes too long",
    { evidence: QUEUED, health: poolWith({ problem: "port 8788 did not open" }) },
    "a container that does not start in time",
  ],
  [
    "a runner without a sandbox",
    { evidence: QUEUED, health: poolWith({ health: UNSANDBOXED }) },
    "a kernel that lacks support for the sandbox",
  ],
  [
    "a queue without a consumer",
    { evidence: QUEUED, health: poolWith({}, 0) },
    "npx wrangler queues info lathe-jobs",
  ],
  [
    "a slot without a container",
    { evidence: QUEUED, health: poolWith({}) },
    "an image that is missing",
  ],
  ["a job that does not end", { evidence: { job: "processing" } }, "worker.internal"],
  [
    "a lost runner",
    { evidence: { job: "failed", code: "runner_lost" } },
    "out of memory, a rollout",
  ],
  ["a full disk", { evidence: { job: "failed", code: "disk_full" } }, "*_INSTANCE_TYPE"],
  [
    "an output that is not stored",
    { evidence: { job: "failed", code: "internal" } },
    "unknown length",
  ],
  ["cut media", { evidence: { code: "wrong_output" } }, "cut or changed"],
  [
    "a refused upload",
    { message: "POST /v1/files was answered 500: x", evidence: { status: 500, code: "internal" } },
    "R2 or D1",
  ],
  ["a site that refuses", { name: "lookup", evidence: { status: 502 } }, "the site of CHECK_URL"],
  ["another 500", { message: "GET /v1/jobs", evidence: { status: 500 } }, "a migration"],
])("%s is named", (_case, failed, words) => {
  expect(findLikelyFailureCause(failedStep(failed))).toContain(words)
})

test("problems of other pools do not explain a step", () => {
  const health = poolWith({ problem: "no container instance" })
  const cause = findLikelyFailureCause(
    failedStep({ evidence: { job: "queued", pool: "speech" }, health }),
  )
  expect(cause).not.toContain("refused")
  expect(
    findLikelyFailureCause(failedStep({ evidence: { job: "failed", code: "no_audio" } })),
  ).toBeNull()
})
