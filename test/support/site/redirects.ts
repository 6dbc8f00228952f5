import { pageAnswer } from "./visit.ts"
import type { Answer, Visit } from "./visit.ts"

/**
 * Redirects. `/redirect/to?to=URL&by=CODE` sends `to` as it is, relative or wrong;
 * `/redirect/chain/N?to=URL` is N of them; `/redirect/loop` leads to itself; `/redirect/endless/0` to
 * another one each time; `/redirect/nowhere` has no Location.
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

/** A redirect to what is given, as it is. */
export function redirect(to: string, status = 302): Answer {
  const location = Buffer.from(to).toString("latin1")
  return pageAnswer({ title: "It is elsewhere" }, { status, headers: { location } })
}
