import { z } from "zod"
import { jsonBody } from "../caller.ts"
import { untilSuccess } from "../requests.ts"
import type { BenchService } from "../service.ts"

const created = z.object({ transcribe_id: z.string() })
const transcription = z.object({ transcript: z.string(), duration_seconds: z.number() })

/** Has the service write down what is said in a file, and returns its words. */
export async function submitTranscription(
  { caller, whenLogged }: BenchService,
  fileId: string,
  { isLong = false, ...options }: { language?: string; isLong?: boolean } = {},
): Promise<string> {
  const body = { file_url: `svc_id://${fileId}`, ...options }
  const { text } = await caller.ask("POST", "/v1/transcribe", jsonBody(body))
  const { transcribe_id } = created.parse(JSON.parse(text))
  const path = `/v1/transcribe/${transcribe_id}` as const
  // Polling meanwhile would take processor time from what is measured.
  if (!isLong) await whenLogged("task.ended", transcribe_id)
  await untilSuccess(caller, path, isLong ? LONG : {})
  return transcription.parse(JSON.parse((await caller.ask("GET", path)).text)).transcript
}

const LONG = { pollMs: 1000, timeLimitMs: 1_200_000 }
