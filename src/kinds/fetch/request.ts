import { z } from "zod"
import {
  FETCH_AUDIO_FORMATS,
  FETCH_QUALITIES,
  SUBTITLE_LANGUAGES_MAX,
} from "../../contract/tasks/fetch.ts"
import {
  commonRequestFieldSchemas,
  optionalPrioritySchema,
  PRIORITY_DEFAULT,
  publishFieldSchemas,
  webhookUrlSchema,
} from "../create-fields.ts"
import { findCookiesProblem } from "../../contract/netscape-cookies.ts"
import { makeInputTextSchema, makeInputValueSchema, lenientInputSchema } from "../private-input.ts"
import { fetchTranscodeSchema, lenientJobFieldSchemas } from "./transcode.ts"

const LANGUAGE = String.raw`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,8}$`
const EXPECTED_LANGUAGE = "expected a language such as en or pt-BR (BCP-47)"
const EXPECTED_SECONDS = "expected seconds from the beginning, 0 or more"

const EXPECTED_URL = "expected a URL"

/** Schema of the field `url` in a request for a fetch or for the metadata of a web page. */
export const mediaUrlSchema = makeInputTextSchema(EXPECTED_URL).meta({
  description: "A public http or https URL.",
  format: "uri",
})

const subtitles = z
  .preprocess(
    (value) => (typeof value === "string" ? [value] : value),
    z
      .array(
        z.string(EXPECTED_LANGUAGE).regex(new RegExp(LANGUAGE), EXPECTED_LANGUAGE),
        "expected languages: a string or an array of strings",
      )
      .max(SUBTITLE_LANGUAGES_MAX, `expected at most ${SUBTITLE_LANGUAGES_MAX} languages`),
  )
  .meta({
    description: "Languages of the subtitles to fetch too, if the media has them.",
    override: {
      anyOf: [
        { type: "string", pattern: LANGUAGE },
        {
          type: "array",
          items: { type: "string", pattern: LANGUAGE },
          maxItems: SUBTITLE_LANGUAGES_MAX,
        },
      ],
    },
  })

const seconds = z.number(EXPECTED_SECONDS).min(0, EXPECTED_SECONDS)

/** Schema of the body of POST /fetch. */
export const fetchRequestSchema = z
  .strictObject(
    {
      url: makeInputValueSchema(mediaUrlSchema, EXPECTED_URL),
      quality: z
        .enum(FETCH_QUALITIES, `expected one of ${FETCH_QUALITIES.join(", ")}`)
        .optional()
        .meta({ description: "Maximum quality to fetch; `best` by default." }),
      audio_format: z
        .enum(FETCH_AUDIO_FORMATS, `expected one of ${FETCH_AUDIO_FORMATS.join(", ")}`)
        .optional()
        .meta({ description: "Fetches only the audio, in this format." }),
      subtitles: subtitles.optional(),
      start: seconds.optional().meta({ description: "Start of the section to fetch, in seconds." }),
      end: seconds.optional().meta({ description: "End of the section to fetch, in seconds." }),
      cookies: z
        .string("expected a string")
        .superRefine((text, context) => {
          const message = findCookiesProblem(text)
          if (message !== null) context.addIssue({ code: "custom", message })
        })
        .optional()
        .meta({
          description:
            "Cookies in Netscape's format, for this fetch only. The service neither shows nor keeps them.",
        }),
      transcode: fetchTranscodeSchema.optional(),
      ...publishFieldSchemas,
      ...commonRequestFieldSchemas,
      priority: optionalPrioritySchema.meta({ default: PRIORITY_DEFAULT }),
      webhook_url: webhookUrlSchema.nullish().meta({
        description: "Alternative to `webhook` whose body is the Job. Give only one of the two.",
      }),
    },
    "expected an object of fields",
  )
  .meta({ id: "FetchRequest" })

export type FetchRequest = z.infer<typeof fetchRequestSchema>

export const FETCH_EXAMPLE_REQUEST = { url: "https://video.example.com/watch?v=1", quality: "720p" }

const usableRequest = z.object({
  url: lenientInputSchema.optional().catch(undefined),
  quality: z.string().optional().catch(undefined),
  audio_format: z.string().optional().catch(undefined),
  start: z.number().optional().catch(undefined),
  end: z.number().optional().catch(undefined),
  subtitles: z.unknown().optional(),
  cookies: z.unknown().optional(),
  ...lenientJobFieldSchemas,
  transcode: z.object(lenientJobFieldSchemas).optional().catch(undefined),
})

export type ValidFetchFields = z.output<typeof usableRequest>

/** Returns the valid fields of a fetch request; omits invalid fields. */
export function readValidFetchFields(body: object): ValidFetchFields {
  return usableRequest.parse(body)
}
