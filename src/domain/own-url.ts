/**
 * Reports whether a URL has the host and port of this deployment's origin. The comparison ignores
 * the scheme, and treats `localhost`, `127.0.0.1` and `[::1]` as equal.
 */
export function isUrlOfDeployment(url: URL, origin: string): boolean {
  return canonicalHost(url) === canonicalHost(new URL(origin))
}

/** Returns the host and port of a URL. All names of localhost give the same host. */
function canonicalHost({ hostname, port }: URL): string {
  const host = hostname.replace(/\.$/, "").replace(/^(?:localhost|\[::1\])$/, "127.0.0.1")
  return port === "" ? host : `${host}:${port}`
}
