import { z } from "zod"
import { createFields } from "../../http/create-fields.ts"

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
