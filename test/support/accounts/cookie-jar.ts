/** The cookies that a browser has of one origin. */
type CookieJar = Map<string, string>

/** Keeps the cookies of an answer; those that are over go. */
export function keepCookies(jar: CookieJar, answer: Response): void {
  for (const line of answer.headers.getSetCookie()) {
    const [pair = "", ...attributes] = line.split(";")
    const at = pair.indexOf("=")
    const isOver = attributes.some((attribute) => /^\s*max-age=0$/i.test(attribute))
    if (isOver) jar.delete(pair.slice(0, at))
    else jar.set(pair.slice(0, at), pair.slice(at + 1))
  }
}

/** Sends the cookies with a request that has these headers. */
export function sendCookies(jar: CookieJar, headers: Headers): void {
  if (jar.size > 0) headers.set("cookie", [...jar].map((pair) => pair.join("=")).join("; "))
}
