import type { PrivateHeaders } from "../../../src/contract/urls/private-headers.ts"
import { isSiteAllowed } from "../../../src/contract/urls/allowed-site.ts"
import { requestUrlWithRedirects } from "../../egress/open-url.ts"
import type { DialFunction } from "../../egress/dial.ts"
import type { SourceRequester } from "./request-source.ts"
import { SourceError } from "./source-error.ts"
import type { IncomingMessage } from "node:http"
import type { FailureCode } from "../../../src/contract/failure.ts"
import { parseRetryAfterMs } from "./retry-after.ts"

/**
 * Creates a function that requests web URLs. All connections are made by `dial`, which checks the
 * addresses. `sites` lists the allowed web sites; an empty list allows all sites. `headers` are
 * sent only to the origin of the requested URL.
 */
export function createWebRequester(
  dial: DialFunction,
  sites: readonly string[],
  privateHeaders?: PrivateHeaders,
): SourceRequester {
  function checkSite(hop: URL): void {
    if (isSiteAllowed(hop, sites)) return
    const message = `The site "${hop.hostname}" is not on this service's list of allowed sites.`
    throw new SourceError("url_not_allowed", message)
  }
  return async ({ url, headers, signal, headMsMax }) => {
    checkSite(url)
    const options = { dial, headers, privateHeaders, signal, headMsMax, onRedirect: checkSite }
    const answer = await requestUrlWithRedirects(url, options)
    const isOfRange = answer.response.statusCode === 416 && headers["range"] !== undefined
    const refused = isOfRange ? null : findStatusFailure(answer.response)
    if (!refused) return answer
    answer.response.destroy()
    if (!privateHeaders || refused.code !== "login_required") throw refused
    throw headersRefused(answer.response, answer.url.origin === url.origin)
  }
}

/**
 * Returns the error for a URL with headers of the caller, if a server has refused access.
 * `hadHeaders` is false if the URL redirects to another origin, which gets no headers.
 */
function headersRefused({ statusCode }: IncomingMessage, hadHeaders: boolean): SourceError {
  const sentence = hadHeaders
    ? "The server refuses access with the headers of the URL: check the headers."
    : "The URL redirects to another origin, which receives none of its headers and refuses access: use the URL that it redirects to."
  return new SourceError("login_required", `${sentence} It answered ${statusCode}.`)
}

type StatusFailure = { code: FailureCode; sentence: string; isPassing?: boolean }

const REQUIRES_LOGIN =
  "The server requires a login for the URL: add headers to that of a file, or use POST /fetch with cookies of an account."

/**
 * Failures of a download by HTTP status, with sentences for the caller. NOT_SENT is the failure for
 * all other 4xx statuses, and BROKEN for all other 5xx statuses.
 */
const FAILURES_BY_STATUS: Readonly<Record<number, StatusFailure>> = {
  204: {
    code: "not_found",
    sentence: "The server sent no content: check the URL.",
  },
  205: {
    code: "not_found",
    sentence: "The server sent no content: check the URL.",
  },
  401: {
    code: "login_required",
    sentence: REQUIRES_LOGIN,
  },
  402: {
    code: "login_required",
    sentence:
      "The server requires payment for the URL: use POST /fetch with cookies of a paid account.",
  },
  403: {
    code: "login_required",
    sentence:
      "The server refuses access to the URL: check the URL, add headers to it, or use POST /fetch with cookies of an account.",
  },
  404: { code: "not_found", sentence: "The URL does not exist on the server: check the URL." },
  407: {
    code: "login_required",
    sentence: REQUIRES_LOGIN,
  },
  408: {
    code: "server_error",
    sentence: "The server gave up on the request; try again later.",
    isPassing: true,
  },
  410: { code: "not_found", sentence: "The URL no longer exists on the server: use a newer one." },
  425: {
    code: "server_error",
    sentence: "The server does not serve the URL yet; try again later.",
    isPassing: true,
  },
  429: {
    code: "rate_limited_by_site",
    sentence: "The server gets too many requests; try again later.",
    isPassing: true,
  },
  451: {
    code: "geo_blocked",
    sentence: "By law the server may not serve the URL in this service's location.",
  },
  501: {
    code: "server_error",
    sentence: "The server cannot send the resource of the URL: check the URL.",
  },
  505: { code: "server_error", sentence: "The server does not accept the request: check the URL." },
}

const NOT_SENT: StatusFailure = {
  code: "not_found",
  sentence: "The server does not send the resource of the URL: check the URL.",
}
const BROKEN: StatusFailure = {
  code: "server_error",
  sentence: "The server failed to send the resource of the URL; try again later.",
  isPassing: true,
}
const UNEXPECTED: StatusFailure = {
  code: "server_error",
  sentence: "The server answered with something that is no file: check the URL.",
}

/**
 * Returns the error for a response whose status means that the body is not the source. Returns null
 * for status 200, 203 and 206.
 */
export function findStatusFailure(response: IncomingMessage): SourceError | null {
  const status = response.statusCode ?? 0
  if (status === 200 || status === 203 || status === 206) return null
  const {
    code,
    sentence,
    isPassing = false,
  } = FAILURES_BY_STATUS[status] ?? failureByStatusClass(status)
  const retryAfterMs = isPassing ? parseRetryAfterMs(response.headers["retry-after"]) : null
  return new SourceError(code, `${sentence} It answered ${status}.`, { isPassing, retryAfterMs })
}

function failureByStatusClass(status: number): StatusFailure {
  if (status >= 500) return BROKEN
  return status >= 400 ? NOT_SENT : UNEXPECTED
}
