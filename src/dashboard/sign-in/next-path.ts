/** The page of this origin that comes after sign-in; the overview where it would be another one's. */
export function nextPath(text: string | undefined, origin: string): string {
  if (!text?.startsWith("/")) return "/"
  const url = URL.parse(text, origin)
  if (url?.origin !== new URL(origin).origin || url.pathname.startsWith("//")) return "/"
  return url.pathname + url.search
}

/** A path of the sign-in pages that leads to a page afterwards. */
export function withNext(path: string, next: string): string {
  return next === "/" ? path : `${path}?next=${encodeURIComponent(next)}`
}
