import { z } from "zod"
import { callCloudflare, callCloudflareOrThrow, makeCloudflareApiError } from "./cloudflare.ts"
import type { CheckedDeployment } from "./checks.ts"

/** Cloudflare's error code for an account in which Analytics Engine is not turned on. */
const NOT_TURNED_ON_CODE = 10_089
const REFUSED_CREDENTIALS = 403

/**
 * Name of the module of the probe Worker, and its source. The probe Worker responds 404 to every
 * request.
 */
const MODULE = "probe.js"
const SOURCE = "export default { fetch() { return new Response(null, { status: 404 }) } }"

/**
 * Part of an error sentence: Analytics Engine is not turned on in this account, with the URL at
 * which the user can turn it on.
 */
export const NO_ANALYTICS_CLAUSE =
  "Analytics Engine, which keeps the metrics, is not turned on in this account " +
  "(https://dash.cloudflare.com/?to=/:account/workers/analytics-engine)"

/**
 * Reports whether the Cloudflare account accepts a binding of Analytics Engine. Cloudflare reports
 * this only by refusing a Worker with such a binding. The function therefore creates and removes a
 * probe Worker, unless the deployed Worker already has the binding.
 */
export async function canBindAnalytics({
  api,
  name,
  deployed,
}: CheckedDeployment): Promise<boolean> {
  if (deployed?.hasAnalytics) return true
  const path = `/workers/scripts/${name}-analytics-probe`
  const answer = await callCloudflare(api, "PUT", path, probeForm())
  if (answer.isOk) {
    await callCloudflareOrThrow(api, z.unknown(), { method: "DELETE", path })
    return true
  }
  if (answer.status === REFUSED_CREDENTIALS) throw makeCloudflareApiError("PUT", path, answer)
  // Ignores refusals that do not concern Analytics Engine: the later deployment fails with the same
  // error.
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
