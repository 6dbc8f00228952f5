/** Cookies that a browser stores for one origin, by name. */
type CookieJar = Map<string, string>

/** Stores the cookies that a response sets. Removes expired cookies. */
export function storeResponseCookies(jar: CookieJar, answer: Response): void {
  for (const line of answer.headers.getSetCookie()) {
    const [pair = "", ...attributes] = line.split(";")
    const at = pair.indexOf("=")
    const isOver = attributes.some((attribute) => /^\s*max-age=0$/i.test(attribute))
    if (isOver) jar.delete(pair.slice(0, at))
    else jar.set(pair.slice(0, at), pair.slice(at + 1))
  }
}

/** Sets the `cookie` header of a request from the cookie jar. */
export function setCookieHeader(jar: CookieJar, headers: Headers): void {
  if (jar.size > 0) headers.set("cookie", [...jar].map((pair) => pair.join("=")).join("; "))
}
