import {
  S3_SOURCE_ERROR_CODE_HEADER,
  S3_SOURCE_OUTCOME_HEADER,
  S3_SOURCE_KEY_HEADER,
  S3_SOURCE_STATUS_HEADER,
  s3SourceOutcomeSchema,
} from "../../../src/contract/source-answer.ts"
import type { RunIoClient } from "../worker-client.ts"
import type { SourceRequester } from "./request-source.ts"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import type { FailureCode } from "../../../src/contract/failure.ts"
import { parseRetryAfterMs } from "./retry-after.ts"
import { SourceChangedError, SourceError } from "./source-error.ts"

/**
 * Creates a function that requests the S3 object of an import task through the Worker, since only
 * the Worker has the credentials for S3. The URL of a response contains the actual key of the
 * object, percent-encoded.
 */
export function createS3Requester(io: RunIoClient): SourceRequester {
  return async ({ url, headers, signal, headMsMax }) => {
    const response = await io.open("/source", { headers, signal, headMsMax })
    const refused = findS3Failure(response, url.host)
    if (refused) {
      response.destroy()
      throw refused
    }
    const key = String(response.headers[S3_SOURCE_KEY_HEADER] ?? "")
    return { url: new URL(`s3://${url.host}/${key}`), response }
  }
}

type S3Failure = { code: FailureCode; sentence: string; isPassing?: boolean }

const CREDENTIALS: S3Failure = {
  code: "server_error",
  sentence:
    "The store does not accept the operator's credentials for the bucket: tell the operator.",
}
const ELSEWHERE: S3Failure = {
  code: "server_error",
  sentence:
    "The store reports that the bucket is elsewhere: the endpoint or region that the operator of this service set for it is wrong. Tell the operator.",
}

/** Failures of a download by S3 error code, which is more precise than the HTTP status. */
const FAILURES_BY_S3_CODE: Readonly<Record<string, S3Failure>> = {
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

const ABSENT: S3Failure = {
  code: "not_found",
  sentence: "There is no such object in the bucket: check its key.",
}
/**
 * Failure for status 403 of S3. S3 also answers 403 for a missing object, if the credentials do not
 * allow listing the bucket.
 */
const REFUSED: S3Failure = {
  code: "not_found",
  sentence:
    "The store refuses the object to this service: check its key, and whether the operator's credentials may read it.",
}
const BUSY: S3Failure = {
  code: "server_error",
  sentence: "The store failed to send the object; try again later.",
  isPassing: true,
}
const NOT_SENT: S3Failure = {
  code: "not_found",
  sentence: "The store does not send the object: check its key.",
}

/**
 * Returns the error for a response of the Worker that contains no bytes of the S3 object. Returns
 * null for a response with bytes, and for status 416 (no bytes at the requested position). Throws
 * an Error if the response contains no answer of S3, because then the Worker itself has failed.
 */
export function findS3Failure(
  { headers, statusCode }: IncomingMessage,
  bucket: string,
): SourceError | SourceChangedError | null {
  const outcome = s3SourceOutcomeSchema.safeParse(headers[S3_SOURCE_OUTCOME_HEADER]).data
  if (outcome === undefined) throw new Error(`The Worker answered ${statusCode} to GET /source.`)
  switch (outcome) {
    case "found":
      return statusCode === 412 ? new SourceChangedError("The object has changed.") : null
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
  const status = Number(headers[S3_SOURCE_STATUS_HEADER])
  const word = String(headers[S3_SOURCE_ERROR_CODE_HEADER] ?? "")
  const { code, sentence, isPassing = false } = FAILURES_BY_S3_CODE[word] ?? failureByStatus(status)
  const retryAfterMs = isPassing ? parseRetryAfterMs(headers["retry-after"]) : null
  const answered = `It answered ${[status, word].join(" ").trim()}.`
  return new SourceError(code, `${sentence} ${answered}`, { isPassing, retryAfterMs })
}

function failureByStatus(status: number): S3Failure {
  if (status >= 500 || status === 408 || status === 429) return BUSY
  if (status === 404) return ABSENT
  if (status === 401 || status === 403) return REFUSED
  return status >= 300 && status < 400 ? ELSEWHERE : NOT_SENT
}
