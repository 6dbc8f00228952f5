import { z } from "zod"
import { fromBase64Url, toBase64Url } from "../crypto/signature.ts"
import { isId } from "../ids.ts"
import type { Page } from "../storage/paging.ts"
import { baseUrl } from "./request.ts"
import type { AppContext } from "./request.ts"

const LIMIT = { byDefault: 20, max: 100 }
/** What is skipped is read all the same; the cursor of a page reads nothing before it. */
const OFFSET_MAX = 10_000

/** Query parameters of every list. */
export const pageQuery = z.object({
  limit: wholeNumber(1, LIMIT.max, LIMIT.byDefault).meta({ description: "Rows of the page." }),
  offset: wholeNumber(0, OFFSET_MAX, 0, "; beyond it, follow the cursor of the Link header").meta({
    description: "Rows that are skipped; to skip more, follow the cursor of the Link header.",
  }),
  cursor: z
    .string()
    .transform((text, context) => {
      const id = readCursor(text)
      if (id !== null) return id
      const message = "expected the cursor of a Link header, as it was given"
      context.addIssue({ code: "custom", message })
      return z.NEVER
    })
    .optional()
    .meta({ override: { type: "string" }, description: "As the Link header of a page gives it." }),
  created_after: moment().meta({ description: "Only what was made after this moment." }),
  created_before: moment().meta({ description: "Only what was made before this moment." }),
})

/** The page that the parameters of a list ask for. */
export function pageOf(query: z.output<typeof pageQuery>): Page {
  const { limit, offset, cursor, created_after: createdAfter, created_before } = query
  return { limit, offset, before: cursor, createdAfter, createdBefore: created_before }
}

/** The `Link` header that names the next page, where there may be one; it keeps the list's filters. */
export function linkNext(
  c: AppContext,
  path: string,
  { limit }: Page,
  rows: { id: string }[],
): Record<string, string> {
  const last = rows.at(-1)
  if (!last || rows.length < limit) return {}
  const query = new URLSearchParams(c.req.query())
  for (const name of ["key", "disposition", "offset"]) query.delete(name)
  query.set("limit", String(limit))
  query.set("cursor", toBase64Url(new TextEncoder().encode(last.id)))
  return { link: `<${baseUrl(c)}${path}?${query.toString()}>; rel="next"` }
}

function wholeNumber(from: number, to: number, byDefault: number, advice = "") {
  const message = `expected a whole number from ${from} to ${to}${advice}`
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= from && value <= to, message)
    .default(byDefault)
    .meta({ override: { type: "integer", minimum: from, maximum: to, default: byDefault } })
}

/** A moment of a query in milliseconds. */
function moment() {
  return z.iso
    .datetime({ offset: true, error: "expected a date-time such as 2026-01-31T12:00:00Z" })
    .transform((text) => Date.parse(text))
    .optional()
    .meta({ override: { type: "string", format: "date-time" } })
}

function readCursor(text: string): string | null {
  const bytes = fromBase64Url(text)
  const id = bytes ? new TextDecoder().decode(bytes) : ""
  return isId(id) ? id : null
}
