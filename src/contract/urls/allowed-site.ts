import { parseHostList } from "./user-url.ts"

/**
 * Parses a comma-separated list of web sites. Normalizes each host name in the same way as a URL
 * parser.
 */
export function parseSiteList(setting: string): string[] {
  return parseHostList(setting).map((entry) => {
    const host = entry.replace(/^\*?\.|\.$/g, "")
    // Keeps an invalid entry, which matches no site. Without the entry, the list could be empty,
    // and an empty list allows every site.
    return URL.parse(`http://${host}`)?.hostname ?? host
  })
}

/**
 * Reports whether the host of a URL is one of the sites or a subdomain of a site. An empty list of
 * sites allows all URLs.
 */
export function isSiteAllowed(url: URL, sites: readonly string[]): boolean {
  const host = url.hostname.replace(/\.$/, "")
  return sites.length === 0 || sites.some((site) => host === site || host.endsWith(`.${site}`))
}
