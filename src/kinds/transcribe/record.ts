import { z } from "zod"
import {
  SPEECH_TASKS,
  TRANSCRIPT_FORMATS,
  transcriptName,
} from "../../contract/tasks/transcribe.ts"
import { languageTag } from "../../contract/whisper-languages.ts"
import type { Progress } from "../../rpc.ts"
import type { Job } from "../../storage/schema/jobs.ts"
import { transcriptUrl } from "../file-links.ts"
import { keptInput } from "../kept-input.ts"
import { jobFields, jobFieldSchemas, recordHead, recordHeadSchemas } from "../record-fields.ts"
import { isAuto } from "./languages.ts"

/** What of the request its job keeps for the record. */
const keptRequest = keptInput.extend({
  language: z.string(),
  model: z.string(),
  task: z.enum(SPEECH_TASKS),
  format: z.enum(TRANSCRIPT_FORMATS).exclude(["txt"]),
})

/** The Transcription record; it has the transcript and its URLs once it succeeded. */
export const transcriptionRecord = z
  .object({
    ...recordHeadSchemas,
    ...keptRequest.shape,
    language: z.string().nullable().meta({
      description: "The language that was asked for, or found; null while it is not known.",
    }),
    total_processing_seconds: z.number().min(0),
    transcript: z
      .string()
      .nullish()
      .meta({ description: "All that is said; null in lists where it is long." }),
    srt: z.url().optional(),
    vtt: z.url().optional(),
    json: z.url().optional().meta({
      description:
        "The file has `language`, `duration_seconds`, `text` and `segments`, each with `id`, `start`, `end`, `text`, `confidence` and `words`, each with `start`, `end`, `word` and `confidence`: times in seconds, confidence from 0 to 1.",
    }),
    txt: z.url().optional(),
    duration_seconds: z.number().optional(),
    ...jobFieldSchemas,
  })
  .meta({ id: "Transcription" })

export type TranscriptionRecord = z.infer<typeof transcriptionRecord>

export function viewTranscription(
  base: string,
  job: Job,
  progress: Progress | null,
): TranscriptionRecord {
  const { language, ...request } = keptRequest.parse(job.request)
  const found = job.result?.transcribed
  return {
    ...recordHead(job),
    ...request,
    language: isAuto(language) ? foundLanguage(found?.language) : language,
    total_processing_seconds: job.processingMs / 1000,
    ...(found && {
      transcript: found.text ?? null,
      ...Object.fromEntries(
        TRANSCRIPT_FORMATS.map((format) => [
          format,
          transcriptUrl(base, job.id, transcriptName(format)),
        ]),
      ),
      duration_seconds: found.duration_seconds,
    }),
    ...jobFields(job, progress),
  }
}

function foundLanguage(code: string | null | undefined): string | null {
  return typeof code === "string" ? languageTag(code) : null
}
