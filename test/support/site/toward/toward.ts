import { textAnswer } from "../visit.ts"
import type { Answer, Visit } from "../visit.ts"
import { dashWays } from "./dash.ts"
import { hlsWays } from "./hls.ts"
import { listWays } from "./lists.ts"
import { pageWays } from "./pages.ts"
import { redirect } from "../redirects.ts"
import type { Way } from "../way.ts"

const ways: Record<string, Way> = { ...pageWays, ...hlsWays, ...dashWays, ...listWays }

/**
 * Serves `/toward/WAY.EXTENSION?to=URL`: a page, manifest or playlist that leads a client to `to`.
 * The URL is used unchanged, even if it is relative or invalid. The ways `redirect` and `refresh`
 * use a response header.
 */
export function towardAnswer({ url }: Visit, rest: string): Answer | null {
  const name = rest.replace(/\.\w+$/, "")
  const to = url.searchParams.get("to") ?? "/media/clip.mp4"
  if (name === "redirect") return redirect(to, Number(url.searchParams.get("by") ?? 302))
  if (name === "refresh") {
    return textAnswer("text/html", "<p>Wait.</p>", { headers: { refresh: `0; url=${to}` } })
  }
  const way = Object.hasOwn(ways, name) ? ways[name] : undefined
  return way ? textAnswer(way.type, way.write(to)) : null
}
