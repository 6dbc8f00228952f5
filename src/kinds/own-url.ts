/** Whether a URL is one of this deployment, by whichever of its names and schemes. */
export function isOwnUrl(text: string, origin: string): boolean {
  const url = URL.parse(text)
  return url !== null && canonicalHost(url) === canonicalHost(new URL(origin))
}

/** Host and port of a URL, one spelling for all names of this machine. */
function canonicalHost({ hostname, port }: URL): string {
  const host = hostname.replace(/\.$/, "").replace(/^(?:localhost|\[::1\])$/, "127.0.0.1")
  return port === "" ? host : `${host}:${port}`
}
