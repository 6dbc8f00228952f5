/** Whether a URL is of one of the sites, subdomains included; every one is where none is named. */
export function isSiteAllowed({ hostname }: URL, sites: readonly string[]): boolean {
  if (sites.length === 0) return true
  const host = hostname.toLowerCase().replace(/\.$/, "")
  return sites.some((site) => host === site || host.endsWith(`.${site}`))
}
