import { isSiteAllowed, readSites } from "../contract/allowed-site.ts"
import { checkUserUrl, readHosts } from "../contract/user-url.ts"
import { settingsOf } from "../env.ts"
import type { Fault } from "../faults.ts"
import { isOwnUrl } from "../kinds/own-url.ts"
import { publicOrigin } from "./request.ts"
import type { AppContext } from "./request.ts"

const OWN =
  "this is an address of this service: what it has stored is downloaded by its download_url, or is an input as svc_id://<uuid>"

/** What is wrong with a URL to fetch from, as far as it can tell without being asked. */
export function urlFaults(c: AppContext, field: string, text: string): Fault[] {
  const message = refusalOf(c, text)
  return message === null ? [] : [{ field, code: "url_not_allowed", message }]
}

function refusalOf(c: AppContext, text: string): string | null {
  const { ALLOWED_PRIVATE_HOSTS, FETCH_SITES } = settingsOf(c.env)
  if (isOwnUrl(text, publicOrigin(c))) return OWN
  const checked = checkUserUrl(text, readHosts(ALLOWED_PRIVATE_HOSTS))
  if ("error" in checked) return checked.error
  if (isSiteAllowed(checked.url, readSites(FETCH_SITES))) return null
  return `the operator of this service lets nothing be fetched from ${checked.url.hostname}`
}
