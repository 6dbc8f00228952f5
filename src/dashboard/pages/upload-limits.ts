import { getSettings } from "../../bindings/env.ts"
import { computeEffectiveLimits } from "../../bindings/plan-limits.ts"
import type { PageContext } from "../context.ts"

/** Maximum size of an uploaded file, and of a request body with one chunk of a file, in bytes. */
export type UploadLimits = { fileBytesMax: number; chunkBytes: number }

const CHUNK_BYTES = 64 * 1024 * 1024

/** Returns the limits of uploads in the account's plan. */
export function readUploadLimits(c: PageContext): UploadLimits {
  const settings = getSettings(c.env)
  const { fileBytesMax } = computeEffectiveLimits(c.get("signedIn").account, settings)
  const bodyBytesMax = settings.UPLOAD_BODY_BYTES_MAX ?? CHUNK_BYTES
  return { fileBytesMax, chunkBytes: Math.min(CHUNK_BYTES, bodyBytesMax) }
}
