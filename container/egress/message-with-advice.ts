import type { FailureCode } from "../../src/contract/failure.ts"
import type { EgressError } from "./dial.ts"

/**
 * Advice for the caller, by failure code. Other codes have no entry, because their messages usually
 * contain advice already.
 */
const ADVICE: Partial<Record<FailureCode, string>> = {
  connection_failed: "check the URL, and try again later",
  server_error: "check the URL, and try again later",
  too_many_redirects: "open the URL in a browser, and use the final URL",
  too_slow: "try again later",
}

/**
 * Returns the message of an EgressError as one sentence, with advice for the caller if the failure
 * code has advice.
 */
export function formatEgressErrorMessage({ code, message }: EgressError): string {
  const advice = ADVICE[code]
  return advice === undefined ? message : `${message.replace(/\.$/, "")}: ${advice}.`
}
