import { UPLOAD_LEASE_MS, CONCURRENT_UPLOADS_MAX } from "../../accounts/rate-limit/upload-leases.ts"
import { getRateLimiter } from "../../bindings/durable-objects.ts"
import { logError } from "../../platform/log.ts"
import type { AppContext } from "../context.ts"
import { Problem } from "../output/problem.ts"

const RENEWALS_PER_LEASE = 3
const RETRY_AFTER_SECONDS = 5

/**
 * Calls `receive` while the API key holds an upload lease, which limits concurrent uploads. Throws
 * 429 if all leases of the key are taken. A lease expires by itself if its connection or Worker
 * dies.
 */
export async function withUploadLease<Value>(
  c: AppContext,
  receive: () => Promise<Value>,
): Promise<Value> {
  const limiter = getRateLimiter(c.env, c.get("limiterName"))
  const id = c.get("requestId")
  if (!(await limiter.beginUpload(id))) throw tooManyUploadsProblem()
  function renew(): void {
    limiter.renewUpload(id).catch((error: unknown) => {
      logError("upload.place_not_renewed", { error: String(error) })
    })
  }
  const timer = setInterval(renew, UPLOAD_LEASE_MS / RENEWALS_PER_LEASE)
  try {
    return await receive()
  } finally {
    clearInterval(timer)
    // Ignore an error: the rate limiter lets the lease expire by itself if this call fails.
    await limiter.endUpload(id).catch(() => undefined)
  }
}

function tooManyUploadsProblem(): Problem {
  const message = `A key may have ${CONCURRENT_UPLOADS_MAX} open uploads; send the request again when an upload is done.`
  return new Problem("too_many_uploads", message, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    headers: { "retry-after": `${RETRY_AFTER_SECONDS}` },
  })
}
