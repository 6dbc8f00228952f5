import { z } from "zod"
import { AUDIO_FORMATS, QUALITIES, SUBTITLES_MAX } from "../../contract/tasks/fetch.ts"
import { createFields, optionalPriority, PRIORITY_DEFAULT, webhookUrl } from "../create-fields.ts"
import { judgeCookies } from "./cookies.ts"
import { fetchTranscode, usableJobFields } from "./transcode.ts"

export const URL_LENGTH_MAX = 8192

const LANGUAGE = String.raw`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,8}$`
const EXPECTED_LANGUAGE = "expected a language such as en or pt-BR (BCP-47)"
const EXPECTED_SECONDS = "expected seconds from the beginning, 0 or more"

/** The URL to fetch, or to look up. */
export const mediaUrl = z
  .string("expected a URL")
  .max(URL_LENGTH_MAX, `expected at most ${URL_LENGTH_MAX} characters`)
  .meta({ description: "A public http or https URL.", format: "uri" })

const subtitles = z
  .preprocess(
    (value) => (typeof value === "string" ? [value] : value),
    z
      .array(
        z.string(EXPECTED_LANGUAGE).regex(new RegExp(LANGUAGE), EXPECTED_LANGUAGE),
        "expected languages: a text or an array of texts",
      )
      .max(SUBTITLES_MAX, `expected at most ${SUBTITLES_MAX} languages`),
  )
  .meta({
    description: "Languages of subtitles to fetch too, where there are some.",
    override: {
      anyOf: [
        { type: "string", pattern: LANGUAGE },
        {
          type: "array",
          items: { type: "string", pattern: LANGUAGE },
          maxItems: SUBTITLES_MAX,
        },
      ],
    },
  })

const seconds = z.number(EXPECTED_SECONDS).min(0, EXPECTED_SECONDS)

/** The body of POST /fetch. */
export const fetchRequest = z
  .strictObject(
    {
      url: mediaUrl,
      quality: z
        .enum(QUALITIES, `expected one of ${QUALITIES.join(", ")}`)
        .optional()
        .meta({ description: "The best that there is up to this; `best` where left out." }),
      audio_format: z
        .enum(AUDIO_FORMATS, `expected one of ${AUDIO_FORMATS.join(", ")}`)
        .optional()
        .meta({ description: "Fetches the sound alone, in this format." }),
      subtitles: subtitles.optional(),
      start: seconds
        .optional()
        .meta({ description: "Where the part to fetch begins, in seconds." }),
      end: seconds.optional().meta({ description: "Where the part to fetch ends, in seconds." }),
      cookies: z
        .string("expected a text")
        .superRefine((text, context) => {
          const message = judgeCookies(text)
          if (message !== null) context.addIssue({ code: "custom", message })
        })
        .optional()
        .meta({
          description:
            "Cookies in Netscape's format, for this fetch alone: they are never shown and not kept.",
        }),
      transcode: fetchTranscode.optional(),
      ...createFields,
      priority: optionalPriority.meta({ default: PRIORITY_DEFAULT }),
      webhook_url: webhookUrl
        .nullish()
        .meta({ description: "The same as webhook, which it is called with the Job; not both." }),
    },
    "expected an object of fields",
  )
  .meta({ id: "FetchRequest" })

export type FetchRequest = z.infer<typeof fetchRequest>

export const EXAMPLE = { url: "https://video.example.com/watch?v=1", quality: "720p" }

const usableRequest = z.object({
  url: z.string().optional().catch(undefined),
  quality: z.string().optional().catch(undefined),
  audio_format: z.string().optional().catch(undefined),
  start: z.number().optional().catch(undefined),
  end: z.number().optional().catch(undefined),
  ...usableJobFields,
  transcode: z.object(usableJobFields).optional().catch(undefined),
})

export type UsableFetch = z.output<typeof usableRequest>

/** What of a body can be used, whatever else is wrong with it. */
export function readUsable(body: object): UsableFetch {
  return usableRequest.parse(body)
}
