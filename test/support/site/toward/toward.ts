import { makeTextResponse } from "../visit.ts"
import type { SiteResponse, SiteRouteContext } from "../visit.ts"
import { DASH_BODIES_WITH_LINK } from "./dash.ts"
import { HLS_BODIES_WITH_LINK } from "./hls.ts"
import { PLAYLIST_BODIES_WITH_LINK } from "./lists.ts"
import { PAGE_BODIES_WITH_LINK } from "./pages.ts"
import { makeRedirectResponse } from "../redirects.ts"
import type { LinkingBody } from "../way.ts"

const ways: Record<string, LinkingBody> = {
  ...PAGE_BODIES_WITH_LINK,
  ...HLS_BODIES_WITH_LINK,
  ...DASH_BODIES_WITH_LINK,
  ...PLAYLIST_BODIES_WITH_LINK,
}

/**
 * Serves `/toward/WAY.EXTENSION?to=URL`: a page, manifest or playlist that leads a client to `to`.
 * The URL is used unchanged, even if it is relative or invalid. `WAY` names the form of the link.
 * For `redirect` and `refresh`, a response header contains the URL.
 */
export function serveLinkTo({ url }: SiteRouteContext, rest: string): SiteResponse | null {
  const name = rest.replace(/\.\w+$/, "")
  const to = url.searchParams.get("to") ?? "/media/clip.mp4"
  if (name === "redirect")
    return makeRedirectResponse(to, Number(url.searchParams.get("by") ?? 302))
  if (name === "refresh") {
    return makeTextResponse("text/html", "<p>Wait.</p>", { headers: { refresh: `0; url=${to}` } })
  }
  const way = Object.hasOwn(ways, name) ? ways[name] : undefined
  return way ? makeTextResponse(way.type, way.write(to)) : null
}
