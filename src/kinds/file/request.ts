import { z } from "zod"
import { describeBrokenJson } from "../../hints/json.ts"
import {
  commonRequestFieldSchemas,
  makeFilePartSchema,
  publishFieldSchemas,
} from "../create-fields.ts"
import { makeInputTextSchema, makeInputValueSchema } from "../private-input.ts"

const jsonText = z.string().transform((text, context) => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    context.addIssue({ code: "custom", message: describeBrokenJson(text) })
    return z.NEVER
  }
})

/** Converts the form value `true` or `false` to a boolean. Returns any other value unchanged. */
function readFlag(text: unknown): unknown {
  return text === "true" || text === "false" ? text === "true" : text
}

/** Converts a form value of at most 9 digits to a number. Returns any other value unchanged. */
function readDigits(text: unknown): unknown {
  return typeof text === "string" && /^\d{1,9}$/.test(text) ? Number(text) : text
}

const EXPECTED_URL = "expected a URL"

const fileUrl = makeInputTextSchema(EXPECTED_URL).meta({
  description:
    "URL to import: an http or https URL of media or of a page with media, or s3://<bucket>/<key> of a bucket that the operator lists.",
  format: "uri",
})

/** Schema of the text fields in the multipart form of POST /files. */
export const fileFormFieldsSchema = z.strictObject({
  file_url: fileUrl.optional(),
  webhook: commonRequestFieldSchemas.webhook,
  metadata: jsonText.pipe(commonRequestFieldSchemas.metadata).optional(),
  priority: z.preprocess(readDigits, commonRequestFieldSchemas.priority),
  expires_in: z.preprocess(readDigits, commonRequestFieldSchemas.expires_in),
  publish: z.preprocess(readFlag, publishFieldSchemas.publish),
})

export type FileFormFields = z.infer<typeof fileFormFieldsSchema>

/** Schema of the complete multipart form of POST /files, for the OpenAPI document. */
export const fileFormSchema = z
  .strictObject({
    file: makeFilePartSchema("file_url"),
    file_url: fileUrl.optional(),
    webhook: commonRequestFieldSchemas.webhook.unwrap().unwrap().optional(),
    metadata: z.string().optional().meta({ description: "A JSON object of strings." }),
    priority: commonRequestFieldSchemas.priority,
    expires_in: commonRequestFieldSchemas.expires_in.unwrap().unwrap().optional(),
    ...publishFieldSchemas,
  })
  .meta({ id: "FileForm" })

/** Schema of the JSON body of POST /files, which contains the URL of the file to import. */
export const fileImportRequestSchema = z
  .strictObject(
    {
      file_url: makeInputValueSchema(fileUrl, EXPECTED_URL),
      ...publishFieldSchemas,
      ...commonRequestFieldSchemas,
    },
    "expected an object of fields",
  )
  .meta({ id: "FileImport" })

/** Example of a request to POST /files. No file exists at its URL. */
export const IMPORT_EXAMPLE_REQUEST = { file_url: "https://example.com/clip.mp4" }
