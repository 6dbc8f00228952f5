import { fromBase64Url, toBase64Url } from "../contract/signature.ts"
import { isId } from "../ids.ts"
import type { Page } from "../storage/jobs.ts"
import { baseUrl } from "./context.ts"
import type { AppContext } from "./context.ts"
import { unprocessable } from "./problem.ts"

const LIMIT = { byDefault: 20, max: 100 }

/** The page that a list request asks for. */
export function readPage(c: AppContext): Page {
  const { limit, offset, cursor } = c.req.query()
  return {
    limit: limit === undefined ? LIMIT.byDefault : wholeNumber("limit", limit, 1, LIMIT.max),
    offset: offset === undefined ? 0 : wholeNumber("offset", offset, 0, 1_000_000),
    before: cursor === undefined ? undefined : readCursor(cursor),
  }
}

/** Names the next page in a `Link` header, where there may be one; it keeps the list's filters. */
export function linkNext(
  c: AppContext,
  path: string,
  page: Page & { filters?: Record<string, string | undefined> },
  rows: { id: string }[],
): void {
  const last = rows.at(-1)
  if (!last || rows.length < page.limit) return
  const cursor = toBase64Url(new TextEncoder().encode(last.id))
  const query = new URLSearchParams({ limit: String(page.limit), cursor })
  for (const [name, value] of Object.entries(page.filters ?? {})) {
    if (value !== undefined) query.set(name, value)
  }
  c.header("link", `<${baseUrl(c)}${path}?${query.toString()}>; rel="next"`)
}

function wholeNumber(field: string, text: string, from: number, to: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= from && value <= to) return value
  throw unprocessable(field, `expected a whole number from ${from} to ${to}`)
}

function readCursor(text: string): string {
  const bytes = fromBase64Url(text)
  const id = bytes ? new TextDecoder().decode(bytes) : ""
  if (isId(id)) return id
  throw unprocessable("cursor", "expected the cursor of a Link header, as it was given")
}
