import { z } from "zod"
import { createFields } from "../create-fields.ts"

const jsonText = z.string().transform((text, context) => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    context.addIssue({ code: "custom", message: "expected JSON, and it cannot be parsed" })
    return z.NEVER
  }
})

/** The fields of POST /files beside the file itself; multipart knows texts only. */
export const fileFields = z.strictObject({
  file_url: z.url("expected a URL").optional(),
  webhook: createFields.webhook,
  metadata: jsonText.pipe(createFields.metadata).optional(),
  priority: z.preprocess(
    (text) => (typeof text === "string" && /^\d{1,3}$/.test(text) ? Number(text) : text),
    createFields.priority,
  ),
})

/** The whole form of POST /files, for its documentation. */
export const fileForm = z
  .strictObject({
    file: z
      .string()
      .meta({ description: "The file.", override: { type: "string", format: "binary" } }),
    webhook: createFields.webhook.unwrap().unwrap().optional(),
    metadata: z.string().optional().meta({ description: "A JSON object of texts." }),
    priority: createFields.priority,
  })
  .meta({ id: "FileForm" })
