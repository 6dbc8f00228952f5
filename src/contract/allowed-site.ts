import { readHosts } from "./user-url.ts"

/** The sites of a comma-separated setting, each as URLs spell its host. */
export function readSites(setting: string): string[] {
  return readHosts(setting).map((entry) => {
    const host = entry.replace(/^\*?\.|\.$/g, "")
    // What is no host stays, and allows nothing: without it an empty list would allow all.
    return URL.parse(`http://${host}`)?.hostname ?? host
  })
}

/** Whether a URL is of one of these sites or of a subdomain; no sites: all are allowed. */
export function isSiteAllowed(url: URL, sites: readonly string[]): boolean {
  const host = url.hostname.replace(/\.$/, "")
  return sites.length === 0 || sites.some((site) => host === site || host.endsWith(`.${site}`))
}
