import { isSiteAllowed } from "../contract/allowed-site.ts"
import { checkUserUrl } from "../contract/user-url.ts"
import { nameOfUrl } from "./file-name.ts"
import { isOwnUrl } from "./own-url.ts"

export const IMPORT_URL_LENGTH_MAX = 8192

/** A URL that something is brought in from: as it is asked, as it was given, and what it names. */
export type ImportUrl = { url: string; sourceUrl: string; name: string }

/** What a URL is judged by beside itself. */
export type ImportRules = {
  /** This deployment's own, of which nothing is brought in. */
  origin: string
  allowedHosts: readonly string[]
  /** The only sites to bring in from; all where there is none. */
  sites: readonly string[]
}

/** Reads a URL that something is to be brought in from, or says why it cannot be. */
export function readImportUrl(text: string, rules: ImportRules): ImportUrl | { error: string } {
  const named = URL.parse(text)
  if (/^svc_id:/i.test(text) || (named && isOwnUrl(named, rules.origin))) {
    return {
      error:
        "this is a URL of this service: what it has needs no import, and is downloaded by its download_url or named as an input",
    }
  }
  const checked = checkUserUrl(text, rules.allowedHosts)
  if ("error" in checked) return checked
  const { url } = checked
  if (!isSiteAllowed(url, rules.sites)) {
    const error = `the operator of this service lets nothing be fetched from "${url.hostname}"`
    return { error }
  }
  const [sourceUrl = text] = text.split("#", 1)
  return { url: url.href, sourceUrl, name: nameOfUrl(url) }
}
