import { z } from "zod"
import { loudness, NORMALIZATION_TYPES } from "../../../src/contract/tasks/normalize.ts"
import { CliError } from "../../local/cli-error.ts"
import { jobFields, postFile, postJson, readRecord, untilFinal } from "../api.ts"
import type { Api } from "../api.ts"
import { AUTH, fileField, quoted } from "../curl.ts"
import { openProgress } from "../progress.ts"

const normalized = z.object({
  download_url: z.url(),
  container: z.string(),
  codec: z.string(),
  measurements: z.object({ before: loudness, after: loudness }),
  normalization_type: z.enum(NORMALIZATION_TYPES),
  target_reached: z.boolean(),
})
const transcribed = z.object({
  language: z.string().nullable(),
  model: z.string(),
  transcript: z.string(),
  srt: z.url(),
  vtt: z.url(),
  json: z.url(),
  txt: z.url(),
})

export type Normalized = z.infer<typeof normalized>
export type Transcribed = z.infer<typeof transcribed>

/** Has a file brought to the loudness of EBU R 128; throws a CliError where that fails. */
export async function normalize(api: Api, file: string, shown: string): Promise<Normalized> {
  say(`${fileField(shown)} $API/normalize`)
  const answer = await postFile(api, "/normalize", file)
  const { normalization_id } = z.object({ normalization_id: z.string() }).parse(answer)
  return await untilDone(api, `/normalize/${normalization_id}`, normalized)
}

/** Has what is said at a download_url written down; throws a CliError where that fails. */
export async function transcribe(api: Api, url: string): Promise<Transcribed> {
  const body = { file_url: url, language: "auto" }
  say(
    `-H "Content-Type: application/json" $API/transcribe \\\n    -d ${quoted(JSON.stringify(body))}`,
  )
  const answer = await postJson(api, "/transcribe", body)
  const { transcribe_id } = z.object({ transcribe_id: z.string() }).parse(answer)
  return await untilDone(api, `/transcribe/${transcribe_id}`, transcribed)
}

/** Waits for a success, shows the progress meanwhile, and reads what the record says then. */
async function untilDone<Done>(api: Api, path: string, schema: z.ZodType<Done>): Promise<Done> {
  say(`$API${path}`)
  const progress = openProgress(process.stdout)
  const record = await untilFinal(
    async () => await readRecord(api, path, z.looseObject(jobFields)),
    api.signal,
    (percent) => progress.show(percent),
  )
  progress.end()
  if (record.status === "success") return schema.parse(record)
  throw new CliError(record.error ?? "It ended without a result.")
}

function say(words: string): void {
  console.log(`\n  curl -s ${AUTH} ${words}`)
}
