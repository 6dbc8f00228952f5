import { z } from "zod"
import { describeBrokenJson } from "../../hints/json.ts"
import { createFields, filePart } from "../create-fields.ts"
import { IMPORT_URL_LENGTH_MAX } from "../import-url.ts"

const jsonText = z.string().transform((text, context) => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    context.addIssue({ code: "custom", message: describeBrokenJson(text) })
    return z.NEVER
  }
})

/** The number that a text of a form is; the text itself where it is none. */
function readDigits(text: unknown): unknown {
  return typeof text === "string" && /^\d{1,9}$/.test(text) ? Number(text) : text
}

const fileUrl = z
  .string("expected a URL")
  .max(IMPORT_URL_LENGTH_MAX, `expected at most ${IMPORT_URL_LENGTH_MAX} characters`)
  .meta({
    description:
      "An http or https URL: of media, or of a page that has some; or s3://<bucket>/<key> of a bucket that the operator lists. It is brought in.",
    format: "uri",
  })

/** The fields of POST /files beside the file itself; multipart knows texts only. */
export const fileFields = z.strictObject({
  file_url: fileUrl.optional(),
  webhook: createFields.webhook,
  metadata: jsonText.pipe(createFields.metadata).optional(),
  priority: z.preprocess(readDigits, createFields.priority),
  expires_in: z.preprocess(readDigits, createFields.expires_in),
})

export type FileFields = z.infer<typeof fileFields>

/** The whole form of POST /files, for its documentation. */
export const fileForm = z
  .strictObject({
    file: filePart("file_url"),
    file_url: fileUrl.optional(),
    webhook: createFields.webhook.unwrap().unwrap().optional(),
    metadata: z.string().optional().meta({ description: "A JSON object of texts." }),
    priority: createFields.priority,
    expires_in: createFields.expires_in.unwrap().unwrap().optional(),
  })
  .meta({ id: "FileForm" })

/** The JSON body of POST /files, which names a file by its URL. */
export const fileImport = z
  .strictObject({ file_url: fileUrl, ...createFields }, "expected an object of fields")
  .meta({ id: "FileImport" })

/** A URL that nothing is behind. */
export const IMPORT_EXAMPLE = { file_url: "https://example.com/clip.mp4" }
