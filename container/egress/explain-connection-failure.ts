import type { FailureCode } from "../../src/contract/failure.ts"

type Explanation = [code: FailureCode, reason: string]

/**
 * Phrases that follow "the certificate of HOST" in a message about an invalid TLS certificate, by
 * the OpenSSL error code that Node reports.
 */
const CERTIFICATE_ERRORS: Record<string, string> = {
  CERT_HAS_EXPIRED: "has expired",
  CERT_NOT_YET_VALID: "is not valid yet",
  CERT_REVOKED: "was revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "is signed by itself",
  ERR_TLS_CERT_ALTNAME_INVALID: "is for another host",
  SELF_SIGNED_CERT_IN_CHAIN: "is of an unknown issuer",
  UNABLE_TO_GET_ISSUER_CERT: "is of an unknown issuer",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "is of an unknown issuer",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "is of an unknown issuer",
}

/**
 * Returns the failure code and the reason of a failed connection to the host `who`. Omits the
 * message of the operating system, because that message contains addresses.
 */
export function explainConnectionFailure(error: unknown, who: string): Explanation {
  if (error instanceof DOMException && error.name === "TimeoutError") return tooSlow(who)
  const code = error instanceof Error && "code" in error ? String(error.code) : "no answer"
  const problem = CERTIFICATE_ERRORS[code]
  if (problem !== undefined) return ["connection_failed", `the certificate of ${who} ${problem}`]
  switch (code) {
    case "ETIMEDOUT":
    case "ETIMEOUT":
      return tooSlow(who)
    case "ECONNREFUSED":
      return ["connection_failed", `${who} refused the connection`]
    case "ECONNRESET":
    case "EPIPE":
      return ["connection_failed", `${who} closed the connection`]
    case "ENOTFOUND":
      return ["connection_failed", `there is no host ${who}`]
    case "HPE_HEADER_OVERFLOW":
      return ["server_error", `the response head of ${who} is too large`]
    default:
      return explainRest(code, who)
  }
}

function explainRest(code: string, who: string): Explanation {
  if (code.startsWith("HPE_")) return ["server_error", `${who} did not respond by HTTP`]
  const isTls = code === "EPROTO" || /^(?:ERR_(?:SSL|TLS)_|CERT_)/.test(code)
  if (isTls) return ["connection_failed", `the TLS handshake with ${who} failed (${code})`]
  return ["connection_failed", `the connection to ${who} failed (${code})`]
}

function tooSlow(who: string): Explanation {
  return ["too_slow", `${who} did not respond in time`]
}
