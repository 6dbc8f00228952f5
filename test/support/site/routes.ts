import { makeBytesResponse } from "./bytes.ts"
import { serveCookieRoute } from "./cookies.ts"
import { serveLiveStream } from "./live.ts"
import { serveMediaFile } from "./media-answer.ts"
import { servePage } from "./pages.ts"
import { serveRedirect } from "./redirects.ts"
import { makeWavResponse } from "./sound.ts"
import { serveLinkTo } from "./toward/toward.ts"
import { makePageResponse } from "./visit.ts"
import type { SiteResponse, SiteRouteContext } from "./visit.ts"

type Route = (visit: SiteRouteContext, rest: string) => SiteResponse | null

const routes: Record<string, Route> = {
  media: ({ folder }, rest) => serveMediaFile(folder, rest),
  as: ({ folder, url }) => serveMediaFile(folder, url.searchParams.get("file") ?? ""),
  bytes: ({ url }) => makeBytesResponse(sizeOf(url), Number(url.searchParams.get("seed") ?? 1)),
  page: (visit, rest) => servePage(visit, rest),
  sound: ({ url }) => makeWavResponse(sizeOf(url), Number(url.searchParams.get("seed") ?? 1)),
  live: (visit, rest) => serveLiveStream(visit, rest),
  toward: (visit, rest) => serveLinkTo(visit, rest),
  redirect: (visit, rest) => serveRedirect(visit, rest),
  status: (_, rest) => makePageResponse({ title: `Status ${rest}` }, { status: Number(rest) }),
  cookies: (visit, rest) => serveCookieRoute(visit, rest),
  raw: ({ url }) => ({
    ...makePageResponse({}),
    raw: Buffer.from(url.searchParams.get("say") ?? "", "latin1"),
  }),
}

/** Returns the response of the test site to a request. */
export function serveSiteRoute(visit: SiteRouteContext): SiteResponse {
  const [, room = "", rest = ""] = /^\/([^/]*)\/?(.*)$/.exec(visit.url.pathname) ?? []
  const answer = routes[room]?.(visit, rest)
  return answer ?? makePageResponse({ title: "There is no such page" }, { status: 404 })
}

function sizeOf(url: URL): number {
  const size = url.searchParams.get("size") ?? "1000"
  return size === "endless" ? Infinity : Number(size)
}
