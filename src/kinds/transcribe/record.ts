import { z } from "zod"
import {
  WHISPER_TASKS,
  TRANSCRIPT_FORMATS,
  transcriptFileName,
} from "../../contract/tasks/transcribe.ts"
import { whisperCodeToLanguageTag } from "../../contract/whisper-languages.ts"
import type { Progress } from "../../domain/progress.ts"
import type { Job } from "../../db/schema/jobs.ts"
import { buildTranscriptUrl } from "../file-links.ts"
import { storedInputSchema } from "../stored-input.ts"
import {
  buildJobFields,
  jobFieldSchemas,
  buildStatusFields,
  statusFieldSchemas,
} from "../shared-record-fields.ts"
import { isAutoLanguage } from "./languages.ts"

/** Schema of the transcription request's fields that the job stores and the record shows. */
const storedRequestFields = storedInputSchema.extend({
  language: z.string(),
  model: z.string(),
  task: z.enum(WHISPER_TASKS),
  format: z.enum(TRANSCRIPT_FORMATS).exclude(["txt"]),
})

/**
 * Schema of the Transcription record. The transcript and its URLs are present only after success.
 */
export const transcriptionRecordSchema = z
  .object({
    ...statusFieldSchemas,
    ...storedRequestFields.shape,
    language: z.string().nullable().meta({
      description: "Spoken language, as requested or detected; null while it is unknown.",
    }),
    total_processing_seconds: z.number().min(0),
    transcript: z
      .string()
      .nullish()
      .meta({ description: "Whole text of the speech; null in lists if it is long." }),
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

export type TranscriptionRecord = z.infer<typeof transcriptionRecordSchema>

export function buildTranscriptionRecord(
  base: string,
  job: Job,
  progress: Progress | null,
): TranscriptionRecord {
  const { language, ...request } = storedRequestFields.parse(job.request)
  const found = job.result?.transcribed
  return {
    ...buildStatusFields(job),
    ...request,
    language: isAutoLanguage(language) ? detectedLanguage(found?.language) : language,
    total_processing_seconds: job.processingMs / 1000,
    ...(found && {
      transcript: found.text ?? null,
      ...Object.fromEntries(
        TRANSCRIPT_FORMATS.map((format) => [
          format,
          buildTranscriptUrl(base, job.id, transcriptFileName(format)),
        ]),
      ),
      duration_seconds: found.duration_seconds,
    }),
    ...buildJobFields(job, progress),
  }
}

function detectedLanguage(code: string | null | undefined): string | null {
  return typeof code === "string" ? whisperCodeToLanguageTag(code) : null
}
