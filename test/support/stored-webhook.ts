import { env } from "cloudflare:workers"
import { decompressText } from "../../src/db/values/compressed-text.ts"

/** Returns the type and body of the stored webhook about a job's end. */
export async function readStoredWebhook(jobId: string) {
  const row = env.DB.prepare(
    "select type, body, body_object_key as bodyObjectKey from deliveries where job_id = ?",
  ).bind(jobId)
  const found = await row.first<{ type: string; body: unknown; bodyObjectKey: string | null }>()
  if (!found) throw new Error(`the job ${jobId} has no webhook`)
  return { ...found, body: decompressText(found.body) }
}
