import type { z } from "zod"
import type { AppContext } from "./context.ts"
import { Problem, unprocessables } from "./problem.ts"
import type { Detail } from "./problem.ts"

const JSON_BYTES_MAX = 1024 * 1024

/** The JSON body of a request, checked; 413, 415 or 422 where it cannot be used. */
export async function readJson<Schema extends z.ZodType>(
  c: AppContext,
  schema: Schema,
): Promise<z.output<Schema>> {
  const type = c.req.header("content-type") ?? ""
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    throw new Problem("unsupported_media_type", "Send the body as application/json.")
  }
  return parseBody(schema, parseJson(await readText(c)))
}

/** A value checked by a schema; 422 with each field at fault. */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const checked = checkBody(schema, value)
  if ("details" in checked) throw unprocessables(checked.details)
  return checked.data
}

/** A value checked by a schema, or each field at fault. */
export function checkBody<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { data: z.output<Schema> } | { details: Detail[] } {
  const parsed = schema.safeParse(value)
  if (parsed.success) return { data: parsed.data }
  return { details: parsed.error.issues.flatMap(detailsOf) }
}

function detailsOf(issue: z.core.$ZodIssue): Detail[] {
  const place = issue.path.join(".")
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      field: place ? `${place}.${key}` : key,
      message: "there is no such field",
    }))
  }
  return [{ field: place || "body", message: issue.message }]
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw unprocessables([{ field: "body", message: "expected JSON, and it cannot be parsed" }])
  }
}

async function readText(c: AppContext): Promise<string> {
  const announced = Number(c.req.header("content-length") ?? 0)
  if (announced > JSON_BYTES_MAX) throw tooLarge()
  const chunks: Uint8Array[] = []
  let bytes = 0
  const body: ReadableStream<Uint8Array> | null = c.req.raw.body
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > JSON_BYTES_MAX) throw tooLarge()
    chunks.push(chunk)
  }
  return await new Blob(chunks).text()
}

function tooLarge(): Problem {
  return new Problem("payload_too_large", `A JSON body may have ${JSON_BYTES_MAX} bytes.`)
}
