/** Whether a URL is one of this deployment, whose origin is given, by whichever name and scheme. */
export function isOwnUrl(url: URL, origin: string): boolean {
  return canonicalHost(url) === canonicalHost(new URL(origin))
}

/** Host and port of a URL, one spelling for all names of this machine. */
function canonicalHost({ hostname, port }: URL): string {
  const host = hostname.replace(/\.$/, "").replace(/^(?:localhost|\[::1\])$/, "127.0.0.1")
  return port === "" ? host : `${host}:${port}`
}
