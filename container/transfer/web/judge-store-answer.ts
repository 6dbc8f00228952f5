import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import type { FailureCode } from "../../../src/contract/failure.ts"
import {
  SOURCE_CODE_HEADER,
  SOURCE_HEADER,
  SOURCE_STATUS_HEADER,
  sourceAnswer,
} from "../../../src/contract/source-answer.ts"
import { readRetryAfter } from "./retry-after.ts"
import { SourceChangedError, SourceError } from "./source-error.ts"

type Meaning = { code: FailureCode; sentence: string; isPassing?: boolean }

const CREDENTIALS: Meaning = {
  code: "server_error",
  sentence:
    "The store does not take the credentials that the operator of this service set for the bucket: tell the operator.",
}
const ELSEWHERE: Meaning = {
  code: "server_error",
  sentence:
    "The store says that the bucket is elsewhere, so that the endpoint or the region that the operator of this service set for it is wrong: tell the operator.",
}

/** What the words of stores mean where they say more than the status. */
const BY_CODE: Readonly<Record<string, Meaning>> = {
  AuthorizationHeaderMalformed: ELSEWHERE,
  ExpiredToken: CREDENTIALS,
  InvalidAccessKeyId: CREDENTIALS,
  InvalidObjectState: {
    code: "not_found",
    sentence: "The store has the object in an archive: restore it there first.",
  },
  NoSuchBucket: { code: "not_found", sentence: "The store has no such bucket." },
  PermanentRedirect: ELSEWHERE,
  RequestTimeTooSkewed: CREDENTIALS,
  SignatureDoesNotMatch: CREDENTIALS,
  TemporaryRedirect: ELSEWHERE,
}

const ABSENT: Meaning = {
  code: "not_found",
  sentence: "There is no such object in the bucket: check its key.",
}
/** A store that may not list a bucket answers this of what is not there, too. */
const REFUSED: Meaning = {
  code: "not_found",
  sentence:
    "The store refuses the object to this service: check its key, and whether the operator's credentials may read it.",
}
const BUSY: Meaning = {
  code: "server_error",
  sentence: "The store failed to send the object; try again later.",
  isPassing: true,
}
const NOT_SENT: Meaning = {
  code: "not_found",
  sentence: "The store does not send the object: check its key.",
}

/**
 * Why the Worker's answer about an object has no bytes of it; null where it has, and for 416. Throws
 * an Error where the Worker says nothing of the store, for it is at fault itself.
 */
export function judgeStoreAnswer(
  { headers, statusCode }: IncomingMessage,
  bucket: string,
): SourceError | SourceChangedError | null {
  const said = sourceAnswer.safeParse(headers[SOURCE_HEADER]).data
  if (said === undefined) throw new Error(`The Worker answered ${statusCode} to GET /source.`)
  switch (said) {
    case "found":
      return statusCode === 412 ? new SourceChangedError("The object is another.") : null
    case "refused":
      return refusal(headers)
    case "unlisted":
      return new SourceError(
        "url_not_allowed",
        `This service reads only from the buckets that its operator lists, and "${bucket}" is no longer one of them.`,
      )
    case "unreachable":
      return new SourceError(
        "connection_failed",
        "The store of the bucket cannot be reached: try again later.",
        { isPassing: true },
      )
  }
}

function refusal(headers: IncomingHttpHeaders): SourceError {
  const status = Number(headers[SOURCE_STATUS_HEADER])
  const word = String(headers[SOURCE_CODE_HEADER] ?? "")
  const { code, sentence, isPassing = false } = BY_CODE[word] ?? meaningOf(status)
  const retryAfterMs = isPassing ? readRetryAfter(headers["retry-after"]) : null
  const answered = `It answered ${[status, word].join(" ").trim()}.`
  return new SourceError(code, `${sentence} ${answered}`, { isPassing, retryAfterMs })
}

function meaningOf(status: number): Meaning {
  if (status >= 500 || status === 408 || status === 429) return BUSY
  if (status === 404) return ABSENT
  if (status === 401 || status === 403) return REFUSED
  return status >= 300 && status < 400 ? ELSEWHERE : NOT_SENT
}
