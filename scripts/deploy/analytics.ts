import { z } from "zod"
import { call, callOrThrow, refusalOf } from "./cloudflare.ts"
import type { Deployment } from "./checks.ts"

/** Cloudflare's code for an account in which Analytics Engine was not turned on. */
const NOT_TURNED_ON_CODE = 10_089
const REFUSED_CREDENTIALS = 403

/** A Worker that answers nothing, and the name of its module. */
const MODULE = "probe.js"
const SOURCE = "export default { fetch() { return new Response(null, { status: 404 }) } }"

/** A sentence on an account without Analytics Engine, and the address at which it is turned on. */
export const NO_ANALYTICS =
  "Analytics Engine, which keeps the metrics, is not turned on in this account " +
  "(https://dash.cloudflare.com/?to=/:account/workers/analytics-engine)"

/**
 * Whether the account takes a binding of Analytics Engine. Cloudflare tells it only by refusing a Worker
 * with one, so a Worker of another name is made and removed, unless the deployed one has such a binding.
 */
export async function hasAnalytics({ api, name, deployed }: Deployment): Promise<boolean> {
  if (deployed?.hasAnalytics) return true
  const path = `/workers/scripts/${name}-analytics-probe`
  const answer = await call(api, "PUT", path, probeForm())
  if (answer.isOk) {
    await callOrThrow(api, z.unknown(), { method: "DELETE", path })
    return true
  }
  if (answer.status === REFUSED_CREDENTIALS) throw refusalOf("PUT", path, answer)
  // Any other refusal says nothing of Analytics Engine; the deployment itself meets its cause.
  return answer.code !== NOT_TURNED_ON_CODE
}

function probeForm(): FormData {
  const metadata = {
    main_module: MODULE,
    compatibility_date: "2026-10-01",
    bindings: [{ type: "analytics_engine", name: "METRICS", dataset: "probe" }],
  }
  const form = new FormData()
  form.set("metadata", JSON.stringify(metadata))
  form.set(MODULE, new File([SOURCE], MODULE, { type: "application/javascript+module" }))
  return form
}
