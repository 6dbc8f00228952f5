import { makePageResponse } from "./visit.ts"
import type { SiteResponse, SiteRouteContext } from "./visit.ts"

/**
 * Serves redirects:
 *
 * - `/redirect/to?to=URL&by=CODE` redirects to `to` unchanged, even if the URL is relative or
 *   invalid.
 * - `/redirect/chain/N?to=URL` is a chain of N redirects.
 * - `/redirect/loop` redirects to itself.
 * - `/redirect/endless/0` redirects to another URL each time.
 * - `/redirect/nowhere` has no Location header.
 */
export function serveRedirect({ url }: SiteRouteContext, rest: string): SiteResponse | null {
  const [way, number = "0"] = rest.split("/")
  const to = url.searchParams.get("to") ?? "/media/clip.mp4"
  const by = Number(url.searchParams.get("by") ?? 302)
  const count = Number(number)
  if (way === "to") return makeRedirectResponse(to, by)
  if (way === "loop") return makeRedirectResponse(url.pathname + url.search, by)
  if (way === "endless") return makeRedirectResponse(`/redirect/endless/${count + 1}`, by)
  if (way === "nowhere") return makePageResponse({ title: "A redirect to nowhere" }, { status: by })
  if (way !== "chain") return null
  const next = `/redirect/chain/${count - 1}?${new URLSearchParams({ to, by: String(by) }).toString()}`
  return makeRedirectResponse(count > 1 ? next : to, by)
}

/** Returns a redirect to an unchanged URL. */
export function makeRedirectResponse(to: string, status = 302): SiteResponse {
  const location = Buffer.from(to).toString("latin1")
  return makePageResponse({ title: "It is elsewhere" }, { status, headers: { location } })
}
