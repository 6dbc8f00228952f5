import { readSites } from "../contract/allowed-site.ts"
import { readHosts } from "../contract/user-url.ts"
import { settingsOf } from "../env.ts"
import type { Fault } from "../faults.ts"
import { readImportUrl } from "../kinds/import-url.ts"
import { publicOrigin } from "./request.ts"
import type { AppContext } from "./request.ts"

/** Reads a URL that something is to be brought in from, by the rules of this deployment. */
export function readImport(c: AppContext, text: string): ReturnType<typeof readImportUrl> {
  const { ALLOWED_PRIVATE_HOSTS, FETCH_SITES } = settingsOf(c.env)
  return readImportUrl(text, {
    origin: publicOrigin(c),
    allowedHosts: readHosts(ALLOWED_PRIVATE_HOSTS),
    sites: readSites(FETCH_SITES),
  })
}

/** What is wrong with a URL to fetch from, as far as it can be told without asking it. */
export function urlFaults(c: AppContext, field: string, text: string): Fault[] {
  const read = readImport(c, text)
  return "error" in read ? [notAllowed(field, read.error)] : []
}

/** The fault of a URL that may not be fetched from. */
export function notAllowed(field: string, message: string): Fault {
  return { field, code: "url_not_allowed", message }
}
