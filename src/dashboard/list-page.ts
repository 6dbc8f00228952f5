import type { ApiAnswer } from "./api.ts"
import type { PageContext } from "./context.ts"

/** What the address of a list's page asks for. */
export type ListQuery = {
  /** The filters that are set. */
  filters: URLSearchParams
  /** The filters and the cursor, as the interface takes them. */
  query: URLSearchParams
  isFirstPage: boolean
}

/** Reads the address of a list's page, which has its filters, by these names, and a cursor. */
export function readListQuery(c: PageContext, names: readonly string[]): ListQuery {
  const filters = new URLSearchParams()
  for (const name of names) {
    const value = c.req.query(name)?.trim()
    if (value) filters.set(name, value)
  }
  const query = new URLSearchParams(filters)
  const cursor = c.req.query("cursor")
  if (cursor) query.set("cursor", cursor)
  return { filters, query, isFirstPage: !cursor }
}

/** The address of the page after this one, from the Link header of a list; null where none is. */
export function nextPage(path: `/${string}`, answer: ApiAnswer<unknown>): string | null {
  const header = answer.ok ? answer.headers.get("link") : null
  const next = /<([^>]+)>; rel="next"/.exec(header ?? "")?.[1]
  if (next === undefined) return null
  const { searchParams } = new URL(next)
  searchParams.delete("limit")
  return `${path}?${searchParams.toString()}`
}
