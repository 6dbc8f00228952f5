import { readHosts } from "./user-url.ts"

/** Reads a comma-separated list of web sites; normalizes each host as URL parsers do. */
export function readSites(setting: string): string[] {
  return readHosts(setting).map((entry) => {
    const host = entry.replace(/^\*?\.|\.$/g, "")
    // An invalid entry stays and matches nothing: an empty list would allow every site.
    return URL.parse(`http://${host}`)?.hostname ?? host
  })
}

/** Reports whether a URL belongs to one of the sites or a subdomain; an empty list allows all. */
export function isSiteAllowed(url: URL, sites: readonly string[]): boolean {
  const host = url.hostname.replace(/\.$/, "")
  return sites.length === 0 || sites.some((site) => host === site || host.endsWith(`.${site}`))
}
