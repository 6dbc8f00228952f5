import { env } from "cloudflare:workers"
import { unpackText } from "../../src/storage/packed-text.ts"

/** The type and the body of the webhook that tells of a job's end, as its row has them. */
export async function storedWebhook(jobId: string): Promise<{ type: string; body: string }> {
  const row = env.DB.prepare("select type, body from deliveries where job_id = ?").bind(jobId)
  const { type = "", body = "" } = (await row.first<{ type: string; body: unknown }>()) ?? {}
  return { type, body: unpackText(body) }
}
