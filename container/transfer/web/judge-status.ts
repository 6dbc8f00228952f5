import type { IncomingMessage } from "node:http"
import type { FailureCode } from "../../../src/contract/failure.ts"
import { readRetryAfter } from "./retry-after.ts"
import { SourceError } from "./source-error.ts"

type Meaning = { code: FailureCode; sentence: string; isPassing?: boolean }

/** What statuses mean to whoever gave the URL; the rest of 4xx is NOT_SENT, of 5xx BROKEN. */
const MEANINGS: Readonly<Record<number, Meaning>> = {
  204: {
    code: "not_found",
    sentence: "There is nothing at the URL, since the server sent no content: check it.",
  },
  205: {
    code: "not_found",
    sentence: "There is nothing at the URL, since the server sent no content: check it.",
  },
  401: {
    code: "login_required",
    sentence: "The server wants a login for the URL; POST /fetch takes cookies of one.",
  },
  402: {
    code: "login_required",
    sentence: "The server wants to be paid for the URL; POST /fetch takes cookies of who has paid.",
  },
  403: {
    code: "login_required",
    sentence:
      "The server refuses access to the URL: check it, or give POST /fetch cookies that open it.",
  },
  404: { code: "not_found", sentence: "There is nothing at the URL: check it." },
  407: {
    code: "login_required",
    sentence: "The server wants a login for the URL; POST /fetch takes cookies of one.",
  },
  408: {
    code: "server_error",
    sentence: "The server gave up on the request; try again later.",
    isPassing: true,
  },
  410: { code: "not_found", sentence: "There is nothing at the URL any more: find a newer one." },
  425: {
    code: "server_error",
    sentence: "The server wants to be asked later; try again then.",
    isPassing: true,
  },
  429: {
    code: "rate_limited_by_site",
    sentence: "The server gets too many requests; try again later.",
    isPassing: true,
  },
  451: {
    code: "geo_blocked",
    sentence: "The server may not send what the URL names to where this service is, by law.",
  },
  501: {
    code: "server_error",
    sentence: "The server cannot send what the URL names: check the URL.",
  },
  505: { code: "server_error", sentence: "The server does not take the request: check the URL." },
}

const NOT_SENT: Meaning = {
  code: "not_found",
  sentence: "The server does not send what the URL names: check the URL.",
}
const BROKEN: Meaning = {
  code: "server_error",
  sentence: "The server failed to send what the URL names; try again later.",
  isPassing: true,
}
const ODD: Meaning = {
  code: "server_error",
  sentence: "The server answered with something that is no file: check the URL.",
}

/** Why an answer has no bytes of the source, by its status; null for 200 and 206. */
export function judgeStatus(response: IncomingMessage): SourceError | null {
  const status = response.statusCode ?? 0
  if (status === 200 || status === 203 || status === 206) return null
  const { code, sentence, isPassing = false } = MEANINGS[status] ?? meaningOfClass(status)
  const retryAfterMs = isPassing ? readRetryAfter(response.headers["retry-after"]) : null
  return new SourceError(code, `${sentence} It answered ${status}.`, { isPassing, retryAfterMs })
}

function meaningOfClass(status: number): Meaning {
  if (status >= 500) return BROKEN
  return status >= 400 ? NOT_SENT : ODD
}
