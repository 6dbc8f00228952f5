import { parseSiteList } from "../../contract/urls/allowed-site.ts"
import { isS3Url } from "../../contract/urls/s3-url.ts"
import {
  parseUserUrl,
  NOT_PUBLIC_HOST_ERROR,
  NOT_WEB_URL_ERROR,
  getUrlPort,
  parseHostList,
  parseWebUrl,
} from "../../contract/urls/user-url.ts"
import type { UserUrlResult } from "../../contract/urls/user-url.ts"
import { getSettings } from "../../bindings/env.ts"
import type { Fault } from "../../domain/faults.ts"
import { describeAddressFault } from "../../hints/addresses.ts"
import { parseImportUrl } from "../../kinds/import-url.ts"
import type { ImportUrl } from "../../kinds/import-url.ts"
import { getInputHeaders, getInputUrl, inputUrlFieldPath } from "../../kinds/private-input.ts"
import type { InputValue } from "../../kinds/private-input.ts"
import { readS3Sources } from "../../bindings/s3-sources.ts"
import { getPublicOrigin } from "./request.ts"
import type { AppContext } from "../context.ts"

/**
 * Parses the URL of an import (https:// or s3://); returns an error if this deployment does not
 * allow the URL.
 */
export function parseImportSource(
  c: AppContext,
  input: InputValue,
): ReturnType<typeof parseImportUrl> {
  if (typeof input !== "string" || !isS3Url(input)) return parseWebImportSource(c, input)
  const buckets = readS3Sources(c.env.S3_SOURCES).map(({ bucket }) => bucket)
  return parseImportUrl(input, { ...webRules(c), buckets })
}

/** Parses the web URL of an import; returns an error if this deployment does not allow the URL. */
export function parseWebImportSource(
  c: AppContext,
  input: InputValue,
): ReturnType<typeof parseImportUrl> {
  const headers = getInputHeaders(input)
  const rules = { ...webRules(c), hasHeaders: headers !== null }
  const url = getInputUrl(input)
  const read = withRemedy<ImportUrl>(c, url, parseImportUrl(url, rules))
  return "error" in read || headers === null ? read : { ...read, headers }
}

/** Returns a fault if this deployment does not allow a web URL. Sends no request to the URL. */
export function findWebUrlFaults(c: AppContext, field: string, input: InputValue): Fault[] {
  const read = parseWebImportSource(c, input)
  return "error" in read ? [urlNotAllowedFault(inputUrlFieldPath(field, input), read.error)] : []
}

function webRules(c: AppContext) {
  const { ALLOWED_PRIVATE_HOSTS, FETCH_SITES } = getSettings(c.env)
  return {
    origin: getPublicOrigin(c),
    allowedHosts: parseHostList(ALLOWED_PRIVATE_HOSTS),
    sites: parseSiteList(FETCH_SITES),
  }
}

/** Parses a webhook URL; returns an error if this deployment does not allow the URL. */
export function parseWebhookUrl(c: AppContext, text: string): UserUrlResult {
  const checked = parseUserUrl(text, parseHostList(getSettings(c.env).ALLOWED_PRIVATE_HOSTS))
  if ("error" in checked && checked.error === NOT_WEB_URL_ERROR) {
    return { error: describeAddressFault(text, { use: "webhook", origin: getPublicOrigin(c) }) }
  }
  return withRemedy(c, text, checked)
}

/**
 * Adds to the error of a refused host the setting that allows the host. Applies only if the service
 * runs on localhost, where the caller can change its settings.
 */
function withRemedy<Checked extends object>(
  c: AppContext,
  text: string,
  checked: Checked | { error: string },
): Checked | { error: string } {
  const url = parseWebUrl(text)
  if (!("error" in checked) || !url || !checked.error.startsWith(NOT_PUBLIC_HOST_ERROR)) {
    return checked
  }
  if (!/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(getPublicOrigin(c)).hostname)) {
    return checked
  }
  const host = `${url.hostname.toLowerCase()}:${getUrlPort(url)}`
  const remedy = `to allow the host, start this service with ALLOWED_PRIVATE_HOSTS=${host}`
  return { error: `${checked.error}; ${remedy}` }
}

/** Returns the fault `url_not_allowed` for a field whose URL the service may not request. */
export function urlNotAllowedFault(field: string, message: string): Fault {
  return { field, code: "url_not_allowed", message }
}
