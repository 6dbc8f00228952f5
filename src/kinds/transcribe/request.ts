import { z } from "zod"
import {
  CAPTION_LINE_LENGTH_MAX,
  CAPTION_LINE_LENGTH_MIN,
  WHISPER_PROMPT_LENGTH_MAX,
  WHISPER_TASKS,
  WORDS_PER_CUE_MAX,
} from "../../contract/tasks/transcribe.ts"
import { commonRequestFieldSchemas, webhookUrlSchema } from "../create-fields.ts"
import { lenientInputSchema } from "../private-input.ts"
import { INPUT_ADDRESS_FORMS } from "../../hints/addresses.ts"
import { EXAMPLE_INPUT_REFERENCE, inputReferenceSchema } from "../reference.ts"
import {
  AUTO_LANGUAGE,
  isAutoLanguage,
  LANGUAGE_LENGTH_MAX,
  parseLanguageTag,
} from "./languages.ts"

/** Transcript formats that a request can choose. Every transcription also creates a plain text. */
const FORMATS = ["json", "srt", "vtt"] as const
const MODEL_LENGTH_MAX = 100

const EXPECTED_WORDS = `expected a whole number from 1 to ${WORDS_PER_CUE_MAX}`
const EXPECTED_LENGTH = `expected a whole number from ${CAPTION_LINE_LENGTH_MIN} to ${CAPTION_LINE_LENGTH_MAX}`

const language = z
  .string("expected a string")
  .max(LANGUAGE_LENGTH_MAX, `expected at most ${LANGUAGE_LENGTH_MAX} characters`)
  .superRefine((text, context) => {
    const spoken = isAutoLanguage(text) ? null : parseLanguageTag(text)
    if (spoken && "error" in spoken) context.addIssue({ code: "custom", message: spoken.error })
  })

/** Schema of the body of POST /transcribe. For a body with `source`, each fault is a 400. */
export const transcribeRequestSchema = z
  .strictObject(
    {
      file_url: inputReferenceSchema.optional().meta({
        description: `The media: ${INPUT_ADDRESS_FORMS}. Alternative to \`source\`.`,
        format: "uri",
      }),
      source: inputReferenceSchema.optional().meta({
        description: "The media in the Job form. Alternative to `file_url`.",
        format: "uri",
      }),
      language: language.default(AUTO_LANGUAGE).meta({
        description: "Spoken language as a BCP-47 tag; `auto` detects it.",
      }),
      format: z
        .enum(FORMATS, `expected one of ${FORMATS.join(", ")}`)
        .default("json")
        .meta({
          description: "Format of the first of the Job's outputs. A Job always has all formats.",
        }),
      task: z
        .enum(WHISPER_TASKS, `expected one of ${WHISPER_TASKS.join(", ")}`)
        .default("transcribe")
        .meta({ description: "`translate` writes English, for every spoken language." }),
      prompt: z
        .string("expected a string")
        .max(WHISPER_PROMPT_LENGTH_MAX, `expected at most ${WHISPER_PROMPT_LENGTH_MAX} characters`)
        .refine((text) => text.isWellFormed(), "expected valid Unicode without a lone surrogate")
        .optional()
        .meta({ description: "Words that may occur in the speech, such as names." }),
      words_per_cue: z
        .int(EXPECTED_WORDS)
        .min(1, EXPECTED_WORDS)
        .max(WORDS_PER_CUE_MAX, EXPECTED_WORDS)
        .optional()
        .meta({ description: "Maximum number of words in a caption." }),
      max_line_length: z
        .int(EXPECTED_LENGTH)
        .min(CAPTION_LINE_LENGTH_MIN, EXPECTED_LENGTH)
        .max(CAPTION_LINE_LENGTH_MAX, EXPECTED_LENGTH)
        .optional()
        .meta({
          description: "Maximum number of characters in a line of a caption; 42 by default.",
        }),
      model: z
        .string("expected the name of a model")
        .max(MODEL_LENGTH_MAX, `expected at most ${MODEL_LENGTH_MAX} characters`)
        .optional()
        .meta({ description: "Name of a model of this service, which also has a default." }),
      ...commonRequestFieldSchemas,
      webhook_url: webhookUrlSchema
        .nullish()
        .meta({ description: "Name of `webhook` in the Job form; only with `source`." }),
    },
    "expected an object of fields",
  )
  .meta({ id: "TranscriptionRequest" })

export type TranscribeRequest = z.infer<typeof transcribeRequestSchema>

export const TRANSCRIBE_EXAMPLE_REQUEST = {
  file_url: EXAMPLE_INPUT_REFERENCE,
  language: "en",
  format: "srt",
}

const text = z.string().optional().catch(undefined)

const input = lenientInputSchema.optional().catch(undefined)

const usableRequest = z.object({
  file_url: input,
  source: input,
  language: text,
  task: text,
  model: text,
  webhook: text,
  webhook_url: text,
})

export type ValidTranscribeFields = z.output<typeof usableRequest>

/** Returns the valid fields of a transcription request; omits invalid fields. */
export function readValidTranscribeFields(body: object): ValidTranscribeFields {
  return usableRequest.parse(body)
}
