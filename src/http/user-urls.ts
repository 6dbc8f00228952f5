import { readSites } from "../contract/allowed-site.ts"
import { isS3Url } from "../contract/s3-url.ts"
import {
  checkUserUrl,
  NOT_PUBLIC,
  NOT_WEB,
  portOf,
  readHosts,
  readWebUrl,
} from "../contract/user-url.ts"
import type { UserUrl } from "../contract/user-url.ts"
import { settingsOf } from "../env.ts"
import type { Fault } from "../faults.ts"
import { describeAddress } from "../hints/addresses.ts"
import { readImportUrl } from "../kinds/import-url.ts"
import { readS3Sources } from "../s3-sources.ts"
import { publicOrigin } from "./request.ts"
import type { AppContext } from "./request.ts"

/** Reads a URL that a file is to be brought in from, by the rules of this deployment. */
export function readImport(c: AppContext, text: string): ReturnType<typeof readImportUrl> {
  if (!isS3Url(text)) return readWebImport(c, text)
  const buckets = readS3Sources(c.env.S3_SOURCES).map(({ bucket }) => bucket)
  return readImportUrl(text, { ...webRules(c), buckets })
}

/** Reads a URL of the web that something is to be fetched from, by the rules of this deployment. */
export function readWebImport(c: AppContext, text: string): ReturnType<typeof readImportUrl> {
  return withRemedy(c, text, readImportUrl(text, webRules(c)))
}

/** What is wrong with a URL to fetch from, as far as it can be told without asking it. */
export function urlFaults(c: AppContext, field: string, text: string): Fault[] {
  const read = readWebImport(c, text)
  return "error" in read ? [notAllowed(field, read.error)] : []
}

function webRules(c: AppContext) {
  const { ALLOWED_PRIVATE_HOSTS, FETCH_SITES } = settingsOf(c.env)
  return {
    origin: publicOrigin(c),
    allowedHosts: readHosts(ALLOWED_PRIVATE_HOSTS),
    sites: readSites(FETCH_SITES),
  }
}

/** A URL to deliver to, checked by the rules of this deployment. */
export function checkWebhookUrl(c: AppContext, text: string): UserUrl {
  const checked = checkUserUrl(text, readHosts(settingsOf(c.env).ALLOWED_PRIVATE_HOSTS))
  if ("error" in checked && checked.error === NOT_WEB) {
    return { error: describeAddress(text, { use: "webhook", origin: publicOrigin(c) }) }
  }
  return withRemedy(c, text, checked)
}

/**
 * A refused URL with the setting that lets its host through, where the request came to this machine
 * itself: who reads the answer then started the service.
 */
function withRemedy<Checked extends object>(
  c: AppContext,
  text: string,
  checked: Checked | { error: string },
): Checked | { error: string } {
  const url = readWebUrl(text)
  if (!("error" in checked) || !url || !checked.error.startsWith(NOT_PUBLIC)) return checked
  if (!/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(publicOrigin(c)).hostname)) {
    return checked
  }
  const host = `${url.hostname.toLowerCase()}:${portOf(url)}`
  const remedy = `to let it through, start this service with ALLOWED_PRIVATE_HOSTS=${host}`
  return { error: `${checked.error}; ${remedy}` }
}

/** The fault of a URL that may not be fetched from. */
export function notAllowed(field: string, message: string): Fault {
  return { field, code: "url_not_allowed", message }
}
