import type { ApiRequestResult } from "./api.ts"
import type { PageContext } from "./context.ts"

/** Query parameters of a page with a list. */
export type DashboardListQuery = {
  /** Filters in the URL of the page, by name. */
  filters: URLSearchParams
  /** Query parameters for the API: the filters and, except on the first page, the cursor. */
  query: URLSearchParams
  isFirstPage: boolean
}

/** Reads the filters with the given names, and the cursor, from the URL of a page with a list. */
export function readDashboardListQuery(
  c: PageContext,
  names: readonly string[],
): DashboardListQuery {
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

/**
 * Returns the path of the next page of a list, from the `Link` header of the API's response; null
 * on the last page.
 */
export function buildNextPagePath(
  path: `/${string}`,
  answer: ApiRequestResult<unknown>,
): string | null {
  const header = answer.ok ? answer.headers.get("link") : null
  const next = /<([^>]+)>; rel="next"/.exec(header ?? "")?.[1]
  if (next === undefined) return null
  const { searchParams } = new URL(next)
  searchParams.delete("limit")
  return `${path}?${searchParams.toString()}`
}
