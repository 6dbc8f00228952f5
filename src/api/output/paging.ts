import { z } from "zod"
import { fromBase64Url, toBase64Url } from "../../platform/crypto/signature.ts"
import { isId } from "../../platform/ids.ts"
import type { ListPageQuery } from "../../db/paging.ts"
import { getBaseUrl } from "../input/request.ts"
import type { AppContext } from "../context.ts"

const LIMIT = { byDefault: 20, max: 100 }
/**
 * Maximum offset of a list. D1 also reads the rows that an offset skips, but not the rows before a
 * cursor.
 */
const OFFSET_MAX = 10_000

/** Schema of the query parameters of every list. */
export const pageQuerySchema = z.object({
  limit: wholeNumberParameter(1, LIMIT.max, LIMIT.byDefault).meta({
    description: "Largest number of rows of the page.",
  }),
  offset: wholeNumberParameter(
    0,
    OFFSET_MAX,
    0,
    "; for later rows, follow the cursor of the Link header",
  ).meta({
    description: "Rows to skip. For later rows, follow the cursor of the Link header.",
  }),
  cursor: z
    .string()
    .transform((text, context) => {
      const id = readCursor(text)
      if (id !== null) return id
      const message = "expected the unchanged cursor of a Link header"
      context.addIssue({ code: "custom", message })
      return z.NEVER
    })
    .optional()
    .meta({
      override: { type: "string" },
      description: "Cursor from the Link header of the page before.",
    }),
  created_after: dateTimeParameter().meta({ description: "Only rows created after this moment." }),
  created_before: dateTimeParameter().meta({
    description: "Only rows created before this moment.",
  }),
})

/** Converts the parsed query parameters of a list to a page of a database query. */
export function toPageRequest(query: z.output<typeof pageQuerySchema>): ListPageQuery {
  const { limit, offset, cursor, created_after: createdAfter, created_before } = query
  return { limit, offset, before: cursor, createdAfter, createdBefore: created_before }
}

/**
 * Returns the `Link` header to the next page of a list. Returns no header for a page with fewer
 * rows than `limit`, which is the last page.
 */
export function makeNextPageLinkHeader(
  c: AppContext,
  path: string,
  { limit }: ListPageQuery,
  rows: { id: string }[],
): Record<string, string> {
  const last = rows.at(-1)
  if (!last || rows.length < limit) return {}
  const query = new URLSearchParams(c.req.query())
  for (const name of ["key", "disposition", "offset"]) query.delete(name)
  query.set("limit", String(limit))
  query.set("cursor", toBase64Url(new TextEncoder().encode(last.id)))
  return { link: `<${getBaseUrl(c)}${path}?${query.toString()}>; rel="next"` }
}

function wholeNumberParameter(from: number, to: number, byDefault: number, advice = "") {
  const message = `expected a whole number from ${from} to ${to}${advice}`
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= from && value <= to, message)
    .default(byDefault)
    .meta({ override: { type: "integer", minimum: from, maximum: to, default: byDefault } })
}

/** Returns the schema of a date-time in a query; parses to milliseconds since the epoch. */
function dateTimeParameter() {
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
