import { z } from "zod"
import { loudness, NORMALIZATION_TYPES } from "../../../src/contract/tasks/normalize.ts"
import { jsonBody } from "../caller.ts"
import { untilSuccess } from "../requests.ts"
import type { BenchService } from "../service.ts"

const created = z.object({ normalization_id: z.string() })
const normalization = z.object({
  download_url: z.url(),
  normalization_type: z.enum(NORMALIZATION_TYPES),
  measurements: z.object({ after: loudness }),
})

export type Normalization = z.infer<typeof normalization>

/** Has the service normalize a file, to a target if one is given, and returns its record. */
export async function submitNormalization(
  { caller, whenLogged }: BenchService,
  fileId: string,
  target: Record<string, number> = {},
): Promise<Normalization> {
  const body = { file_url: `svc_id://${fileId}`, ...target }
  const { text } = await caller.ask("POST", "/v1/normalize", jsonBody(body))
  const { normalization_id } = created.parse(JSON.parse(text))
  // Polling meanwhile would take processor time from what is measured.
  await whenLogged("task.ended", normalization_id)
  const path = `/v1/normalize/${normalization_id}` as const
  await untilSuccess(caller, path)
  return normalization.parse(JSON.parse((await caller.ask("GET", path)).text))
}
