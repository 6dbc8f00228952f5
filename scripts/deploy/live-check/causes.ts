import type { OperatorHealth } from "./operator-health.ts"
import type { LiveCheckStepEvidence } from "./step-error.ts"
import { WRONG_OUTPUT_CODE } from "./steps.ts"
import { WEBHOOK_ANSWERED_ELSEWHERE_CODE, WEBHOOK_NOT_TRIED_CODE } from "./webhook.ts"

/**
 * Failed step of the live check. `health` is the response of /operator/health right after the
 * failure, or null if there was no response.
 */
export type FailedLiveCheckStep = {
  name: string
  message: string
  evidence: LiveCheckStepEvidence
  health: OperatorHealth | null
}

type Cause = { fits: (failed: FailedLiveCheckStep) => boolean; says: string }

/** Returns the likely cause of a failed step. Returns null if no known cause matches. */
export function findLikelyFailureCause(failed: FailedLiveCheckStep): string | null {
  return CAUSES.find(({ fits }) => fits(failed))?.says ?? null
}

/** Known causes of failed steps on Cloudflare, the most specific first. */
const CAUSES: readonly Cause[] = [
  {
    fits: says(/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|certificate|does not respond/),
    says: "the host name, which resolves and has its certificate some minutes after a first deployment; or the service is down.",
  },
  {
    fits: says(/\b1042\b/),
    says: "a Worker that calls its own host without the flag global_fetch_strictly_public (wrangler.toml has it).",
  },
  {
    fits: says(/\b110[12]\b/),
    says: "a Worker that threw (1101) or used its processor time up (1102, limits.cpu_ms of wrangler.toml): npx wrangler tail says which.",
  },
  {
    fits: ({ evidence }) => evidence.status === 413 && !evidence.code,
    says: "the zone's limit of a request body, which refuses before the Worker (100 MB on Free and Pro).",
  },
  {
    fits: ({ name, evidence }) => name === "webhook" && [401, 403].includes(evidence.status ?? 0),
    says: "Access, a firewall rule or a bot challenge in front of the service, which refuses its own webhooks.",
  },
  {
    fits: hasCode(WEBHOOK_ANSWERED_ELSEWHERE_CODE),
    says: "PUBLIC_ORIGIN or LATHE_DOMAIN, which leads to another service.",
  },
  {
    fits: hasCode(WEBHOOK_NOT_TRIED_CODE),
    says: "a queue without a consumer: npx wrangler queues info lathe-webhooks shows its consumer and its backlog.",
  },
  {
    fits: ({ health }) => health?.reasons.includes("runner_unreachable") === true,
    says: "the runner of this machine, which does not respond: its log has the cause.",
  },
  {
    fits: (failed) =>
      failed.health?.reasons.includes("sandbox_failed") === true ||
      runnersOf(failed).some(({ sandbox }) => !sandbox.ok),
    says: "a kernel that lacks support for the sandbox (seccomp, and Landlock or the right to create namespaces): the log has it as sandbox.refused.",
  },
  {
    fits: startFailed(
      /no container instance|maximum number of running|too many containers|\b429\b/i,
    ),
    says: "a refused instance: max_instances of the pool, starts a second, or limits of the account. Fewer *_INSTANCES or smaller *_INSTANCE_TYPE need less.",
  },
  {
    fits: startFailed(/image|provision|not found|registry/i),
    says: "an image that is still being provisioned, as in the first minutes of a deployment: npx wrangler containers list shows its state.",
  },
  {
    fits: startFailed(/./),
    says: "a container that does not start in time: npx wrangler containers list, and its log in the dashboard.",
  },
  {
    fits: ({ evidence: { job }, health }) =>
      job === "queued" && health !== null && health.pools.every(({ used }) => used === 0),
    says: "a queue without a consumer, or a dispatcher that does not start: npx wrangler queues info lathe-jobs shows its consumer and its backlog.",
  },
  {
    fits: ({ evidence }) => evidence.job === "queued",
    says: "an image that is missing, or no free instance: the pool allocated a slot, and no container accepted the task.",
  },
  {
    fits: ({ evidence }) => evidence.job === "processing",
    says: "a container that does not reach the Worker (outbound handler of worker.internal), or a processor that is too slow for its limits.",
  },
  {
    fits: hasCode("runner_lost"),
    says: "a container that ends during its work: out of memory, a rollout, or a host that is drained.",
  },
  {
    fits: hasCode("out_of_memory", "cpu_limit", "process_limit", "disk_full", "disk_limit"),
    says: "an instance type that is too small for a second of media: *_INSTANCE_TYPE.",
  },
  {
    fits: ({ evidence: { job, code } }) =>
      job === "failed" && (code === "internal" || code === "server_error"),
    says: "the store: a put of unknown length into R2, or R2 that refuses. The Worker's log has the error by the job's id.",
  },
  {
    fits: ({ name, evidence }) => ["fetch", "lookup"].includes(name) && evidence.status !== 500,
    says: "the site of CHECK_URL, which refuses addresses of data centres or is no media, or containers of the pools fetch and lookup without a way to the internet.",
  },
  {
    fits: hasCode(WRONG_OUTPUT_CODE),
    says: "media that were cut or changed in transit: R2 or a proxy assumed another length of the body.",
  },
  {
    fits: ({ evidence, message }) =>
      evidence.status === 500 && message.startsWith("POST /v1/files "),
    says: "R2 or D1: the bucket is missing or refuses, or a limit of D1 was reached. npx wrangler tail has the error.",
  },
  {
    fits: ({ evidence }) => (evidence.status ?? 0) >= 500,
    says: "D1 (its limits, or a migration that is missing) or an object: npx wrangler tail has the error by the request's id.",
  },
  {
    fits: hasCode("rate_limit_exceeded", "job_limit_exceeded", "fetch_limit_exceeded"),
    says: "limits of the plan trial, which the account of the check has.",
  },
]

function says(pattern: RegExp): Cause["fits"] {
  return ({ message }) => pattern.test(message)
}

function hasCode(...codes: string[]): Cause["fits"] {
  return ({ evidence }) => codes.includes(evidence.code ?? "")
}

/**
 * Makes a test of a failed step: a container of the step's runner pool could not be started, for a
 * reason that matches the pattern.
 */
function startFailed(pattern: RegExp): Cause["fits"] {
  return ({ evidence, health }) =>
    evidence.job === "queued" &&
    (health?.pools ?? [])
      .filter(({ name }) => name === evidence.pool)
      .flatMap(({ containers }) => containers)
      .some(({ problem }) => problem !== null && pattern.test(problem))
}

function runnersOf({ health, evidence }: FailedLiveCheckStep) {
  const pools = (health?.pools ?? []).filter(({ name }) => name === evidence.pool)
  return pools.flatMap(({ containers }) => containers.flatMap((each) => each.health ?? []))
}
