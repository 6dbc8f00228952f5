/**
 * Returns the path of the page to show after the sign-in. Returns the path of the overview page if
 * `text` is not a path of this origin.
 */
export function sanitizeNextPath(text: string | undefined, origin: string): string {
  if (!text?.startsWith("/")) return "/"
  const url = URL.parse(text, origin)
  if (url?.origin !== new URL(origin).origin || url.pathname.startsWith("//")) return "/"
  return url.pathname + url.search
}

/** Adds the path `next`, the page to show after the sign-in, to the path of a sign-in page. */
export function addNextPath(path: string, next: string): string {
  return next === "/" ? path : `${path}?next=${encodeURIComponent(next)}`
}
