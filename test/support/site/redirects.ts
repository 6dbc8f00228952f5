import { pageAnswer } from "./visit.ts"
import type { Answer, Visit } from "./visit.ts"

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
export function redirectAnswer({ url }: Visit, rest: string): Answer | null {
  const [way, number = "0"] = rest.split("/")
  const to = url.searchParams.get("to") ?? "/media/clip.mp4"
  const by = Number(url.searchParams.get("by") ?? 302)
  const count = Number(number)
  if (way === "to") return redirect(to, by)
  if (way === "loop") return redirect(url.pathname + url.search, by)
  if (way === "endless") return redirect(`/redirect/endless/${count + 1}`, by)
  if (way === "nowhere") return pageAnswer({ title: "A redirect to nowhere" }, { status: by })
  if (way !== "chain") return null
  const next = `/redirect/chain/${count - 1}?${new URLSearchParams({ to, by: String(by) }).toString()}`
  return redirect(count > 1 ? next : to, by)
}

/** Returns a redirect to an unchanged URL. */
export function redirect(to: string, status = 302): Answer {
  const location = Buffer.from(to).toString("latin1")
  return pageAnswer({ title: "It is elsewhere" }, { status, headers: { location } })
}
