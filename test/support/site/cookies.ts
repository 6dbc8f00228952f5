import { serveMediaFile } from "./media-answer.ts"
import { escapeHtml, makePageResponse, makeTextResponse } from "./visit.ts"
import type { SiteResponse, SiteRouteContext } from "./visit.ts"

/** Cookie that `/cookies/page` requires, as `name=value`. */
export const LOGIN_COOKIE = "session=right"

/**
 * Serves the routes about cookies:
 *
 * - `/cookies/page`: a page with a video. Responds 403 with a login page without the cookie.
 * - `/cookies/clip.mp4`: the video of that page, which requires the cookie too.
 * - `/cookies/away?to=URL`: a page like `/cookies/page` with the video `to` on another host.
 * - `/cookies/echo`: the cookies of the request.
 * - `/cookies/set?to=URL`: sets a cookie and redirects to `to`.
 */
export function serveCookieRoute(
  { url, request, folder }: SiteRouteContext,
  rest: string,
): SiteResponse | null {
  const cookies = request.headers.cookie ?? ""
  const to = url.searchParams.get("to") ?? "/cookies/clip.mp4"
  const isRight = cookies.split("; ").includes(LOGIN_COOKIE)
  if (rest === "echo") return makeTextResponse("text/plain", cookies)
  if (rest === "set") {
    const headers = { "set-cookie": "given=here; Path=/", location: to }
    return makePageResponse({ title: "A cookie" }, { status: 302, headers })
  }
  if (!isRight) {
    const form = '<form method="post"><input type="password" name="password"></form>'
    return makePageResponse({ title: "Log in to go on", body: form }, { status: 403 })
  }
  if (rest === "clip.mp4") return serveMediaFile(folder, "clip.mp4")
  if (rest !== "page" && rest !== "away") return null
  return makePageResponse({ title: "For members", body: `<video src="${escapeHtml(to)}"></video>` })
}
