import type { OperatorHealth } from "./operator-health.ts"
import type { Evidence } from "./step-error.ts"
import { WRONG_OUTPUT } from "./steps.ts"
import { ANSWERED_ELSEWHERE, NOT_TRIED } from "./webhook.ts"

/** A step that failed, with what the operator's health said right after it; null where it said nothing. */
export type FailedStep = {
  name: string
  message: string
  evidence: Evidence
  health: OperatorHealth | null
}

type Cause = { fits: (failed: FailedStep) => boolean; says: string }

/** The point of the platform that a failure looks like; null where it looks like none of them. */
export function findCause(failed: FailedStep): string | null {
  return CAUSES.find(({ fits }) => fits(failed))?.says ?? null
}

/** Points at which real platforms differ from a test, the most telling first. */
const CAUSES: readonly Cause[] = [
  {
    fits: says(/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|certificate|does not answer/),
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
    fits: hasCode(ANSWERED_ELSEWHERE),
    says: "PUBLIC_ORIGIN or LATHE_DOMAIN, which leads to another service.",
  },
  {
    fits: hasCode(NOT_TRIED),
    says: "a queue that nobody consumes: npx wrangler queues info lathe-webhooks shows its consumer and its backlog.",
  },
  {
    fits: ({ health }) => health?.reasons.includes("runner_unreachable") === true,
    says: "the runner of this machine, which does not answer: its lines in the log say why.",
  },
  {
    fits: (failed) =>
      failed.health?.reasons.includes("sandbox_failed") === true ||
      runnersOf(failed).some(({ sandbox }) => !sandbox.ok),
    says: "a kernel without what the sandbox needs (seccomp, and Landlock or the right to make namespaces): the log says it as sandbox.refused.",
  },
  {
    fits: startFailed(
      /no container instance|maximum number of running|too many containers|\b429\b/i,
    ),
    says: "an instance that is refused: max_instances of the pool, starts a second, or limits of the account. Fewer *_INSTANCES or smaller *_INSTANCE_TYPE need less.",
  },
  {
    fits: startFailed(/image|provision|not found|registry/i),
    says: "an image that is not there yet, as in the first minutes of a deployment: npx wrangler containers list shows how far it is.",
  },
  {
    fits: startFailed(/./),
    says: "a container that does not come up in time: npx wrangler containers list, and its log in the dashboard.",
  },
  {
    fits: ({ evidence: { job }, health }) =>
      job === "queued" && health !== null && health.pools.every(({ used }) => used === 0),
    says: "a queue that nobody consumes, or a dispatcher that does not begin: npx wrangler queues info lathe-jobs shows its consumer and its backlog.",
  },
  {
    fits: ({ evidence }) => evidence.job === "queued",
    says: "an image that is not there yet, or instances that are all in use: the pool gave a slot, and no container took the task.",
  },
  {
    fits: ({ evidence }) => evidence.job === "processing",
    says: "a container that does not reach the Worker (outbound handler of worker.internal), or a processor that is too slow for its limits.",
  },
  {
    fits: hasCode("runner_lost"),
    says: "a container that ends while it works: out of memory, a rollout, or a host that is drained.",
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
    fits: hasCode(WRONG_OUTPUT),
    says: "media that were cut or changed on their way: a body whose length R2 or a proxy in between took for another.",
  },
  {
    fits: ({ evidence, message }) =>
      evidence.status === 500 && message.startsWith("POST /v1/files "),
    says: "R2 or D1: the bucket is missing or refuses, or a limit of D1 was met. npx wrangler tail has the error.",
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

/** Whether a container of the step's pool could not be started, for a reason in these words. */
function startFailed(pattern: RegExp): Cause["fits"] {
  return ({ evidence, health }) =>
    evidence.job === "queued" &&
    (health?.pools ?? [])
      .filter(({ name }) => name === evidence.pool)
      .flatMap(({ containers }) => containers)
      .some(({ problem }) => problem !== null && pattern.test(problem))
}

function runnersOf({ health, evidence }: FailedStep) {
  const pools = (health?.pools ?? []).filter(({ name }) => name === evidence.pool)
  return pools.flatMap(({ containers }) => containers.flatMap((each) => each.health ?? []))
}
