/** Reports whether a URL points to this deployment, by any name of its host and either scheme. */
export function isOwnUrl(url: URL, origin: string): boolean {
  return canonicalHost(url) === canonicalHost(new URL(origin))
}

/** Returns the host and port of a URL, with one spelling for all names of localhost. */
function canonicalHost({ hostname, port }: URL): string {
  const host = hostname.replace(/\.$/, "").replace(/^(?:localhost|\[::1\])$/, "127.0.0.1")
  return port === "" ? host : `${host}:${port}`
}
