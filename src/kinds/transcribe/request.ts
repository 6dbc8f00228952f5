import { z } from "zod"
import {
  LINE_LENGTH_MAX,
  LINE_LENGTH_MIN,
  PROMPT_LENGTH_MAX,
  SPEECH_TASKS,
  WORDS_PER_CUE_MAX,
} from "../../contract/tasks/transcribe.ts"
import { createFields, webhookUrl } from "../create-fields.ts"
import { EXAMPLE_INPUT, inputReference } from "../reference.ts"
import { AUTO, isAuto, LANGUAGE_LENGTH_MAX, readLanguage } from "./languages.ts"

/** Formats that a request may ask for; the plain text is always there beside them. */
const FORMATS = ["json", "srt", "vtt"] as const
const MODEL_LENGTH_MAX = 100

const EXPECTED_WORDS = `expected a whole number from 1 to ${WORDS_PER_CUE_MAX}`
const EXPECTED_LENGTH = `expected a whole number from ${LINE_LENGTH_MIN} to ${LINE_LENGTH_MAX}`

const language = z
  .string("expected a text")
  .max(LANGUAGE_LENGTH_MAX, `expected at most ${LANGUAGE_LENGTH_MAX} characters`)
  .superRefine((text, context) => {
    const read = isAuto(text) ? null : readLanguage(text)
    if (read && "error" in read) context.addIssue({ code: "custom", message: read.error })
  })

/** The body of POST /transcribe, in both forms; which of them it is in, `source` tells. */
export const transcribeRequest = z
  .strictObject(
    {
      file_url: inputReference.optional().meta({
        description:
          "What to transcribe: a public URL, svc_id://<uuid> or a File's download_url; or else source.",
        format: "uri",
      }),
      source: inputReference
        .optional()
        .meta({ description: "The same in the Job form, instead of file_url.", format: "uri" }),
      language: language.default(AUTO).meta({
        description: "The language that is spoken, as a BCP-47 tag; `auto` finds it.",
      }),
      format: z
        .enum(FORMATS, `expected one of ${FORMATS.join(", ")}`)
        .default("json")
        .meta({ description: "The first of the Job's outputs; all are always there." }),
      task: z
        .enum(SPEECH_TASKS, `expected one of ${SPEECH_TASKS.join(", ")}`)
        .default("transcribe")
        .meta({ description: "`translate` writes English, whatever is spoken." }),
      prompt: z
        .string("expected a text")
        .max(PROMPT_LENGTH_MAX, `expected at most ${PROMPT_LENGTH_MAX} characters`)
        .refine((text) => text.isWellFormed(), "expected no half of a character (lone surrogate)")
        .optional()
        .meta({ description: "Words that may be heard, such as names." }),
      words_per_cue: z
        .int(EXPECTED_WORDS)
        .min(1, EXPECTED_WORDS)
        .max(WORDS_PER_CUE_MAX, EXPECTED_WORDS)
        .optional()
        .meta({ description: "The most words of a caption." }),
      max_line_length: z
        .int(EXPECTED_LENGTH)
        .min(LINE_LENGTH_MIN, EXPECTED_LENGTH)
        .max(LINE_LENGTH_MAX, EXPECTED_LENGTH)
        .optional()
        .meta({ description: "The most characters of a line of a caption; 42 where left out." }),
      model: z
        .string("expected the name of a model")
        .max(MODEL_LENGTH_MAX, `expected at most ${MODEL_LENGTH_MAX} characters`)
        .optional()
        .meta({ description: "One of this service's models; its default where left out." }),
      ...createFields,
      webhook_url: webhookUrl
        .nullish()
        .meta({ description: "What the Job form calls webhook; beside source alone." }),
    },
    "expected an object of fields",
  )
  .meta({ id: "TranscriptionRequest" })

export type TranscribeRequest = z.infer<typeof transcribeRequest>

export const EXAMPLE = { file_url: EXAMPLE_INPUT, language: "en", format: "srt" }

const text = z.string().optional().catch(undefined)

const usableRequest = z.object({
  file_url: text,
  source: text,
  language: text,
  task: text,
  model: text,
  webhook: text,
  webhook_url: text,
})

export type UsableTranscribe = z.output<typeof usableRequest>

/** What of a body can be used, whatever else is wrong with it. */
export function readUsable(body: object): UsableTranscribe {
  return usableRequest.parse(body)
}
