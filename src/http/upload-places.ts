import { logError } from "../log.ts"
import { limiterOf } from "../placement.ts"
import { Problem } from "./problem.ts"
import type { AppContext } from "./request.ts"

/** Uploads that one key may have open, and how long one counts that is not renewed. */
export const UPLOADS_MAX = 16
export const UPLOAD_LEASE_MS = 45_000

const RENEWALS_PER_LEASE = 3
const RETRY_AFTER_SECONDS = 5

/**
 * Does what receives an upload while it holds one of the places of its key; 429 where all are taken.
 * The place is a lease, so that one whose connection or Worker is gone becomes free by itself.
 */
export async function withUploadPlace<Value>(
  c: AppContext,
  receive: () => Promise<Value>,
): Promise<Value> {
  const limiter = limiterOf(c.env, c.get("limiterName"))
  const id = c.get("requestId")
  if (!(await limiter.beginUpload(id))) throw tooMany()
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
    // A place that cannot be given back is free when its lease is over.
    await limiter.endUpload(id).catch(() => undefined)
  }
}

function tooMany(): Problem {
  const message = `This key may have ${UPLOADS_MAX} uploads open at a time; send it again when one is done.`
  return new Problem("too_many_uploads", message, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    headers: { "retry-after": `${RETRY_AFTER_SECONDS}` },
  })
}
