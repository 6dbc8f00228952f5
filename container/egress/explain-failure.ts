import type { FailureCode } from "../../src/contract/failure.ts"

type Explanation = [code: FailureCode, reason: string]

/** Faults of certificates by OpenSSL's names, as Node has them. */
const CERTIFICATE_FAULTS: Record<string, string> = {
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

/** Says why a connection to `who` failed, without the words of the system, which name addresses. */
export function explainFailure(error: unknown, who: string): Explanation {
  if (error instanceof DOMException && error.name === "TimeoutError") return tooSlow(who)
  const code = error instanceof Error && "code" in error ? String(error.code) : "no answer"
  const fault = CERTIFICATE_FAULTS[code]
  if (fault !== undefined) return ["connection_failed", `the certificate of ${who} ${fault}`]
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
      return ["server_error", `the head of the answer of ${who} is too large`]
    default:
      return explainRest(code, who)
  }
}

function explainRest(code: string, who: string): Explanation {
  if (code.startsWith("HPE_")) return ["server_error", `${who} did not answer by HTTP`]
  const isTls = code === "EPROTO" || /^(?:ERR_(?:SSL|TLS)_|CERT_)/.test(code)
  if (isTls) return ["connection_failed", `no TLS connection to ${who} could be made (${code})`]
  return ["connection_failed", `the connection to ${who} failed (${code})`]
}

function tooSlow(who: string): Explanation {
  return ["too_slow", `${who} did not answer in time`]
}
