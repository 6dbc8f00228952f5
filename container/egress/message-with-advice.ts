import type { FailureCode } from "../../src/contract/failure.ts"
import type { EgressError } from "./dial.ts"

/** Advice for failure codes whose message only names the failure. */
const ADVICE: Partial<Record<FailureCode, string>> = {
  connection_failed: "check the URL, and try again later",
  server_error: "check the URL, and try again later",
  too_many_redirects: "open the URL in a browser, and use the final URL",
  too_slow: "try again later",
}

/** Returns the message of an error, with advice for the caller if there is any, in one sentence. */
export function messageWithAdvice({ code, message }: EgressError): string {
  const advice = ADVICE[code]
  return advice === undefined ? message : `${message.replace(/\.$/, "")}: ${advice}.`
}
