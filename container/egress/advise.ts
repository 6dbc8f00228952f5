import type { FailureCode } from "../../src/contract/failure.ts"
import type { EgressError } from "./dial.ts"

/** What helps where a sentence only says what happened. */
const ADVICE: Partial<Record<FailureCode, string>> = {
  connection_failed: "check the URL, and try again later",
  server_error: "check the URL, and try again later",
  too_many_redirects: "open the URL in a browser, and give the one that it ends at",
  too_slow: "try again later",
}

/** What an error says, and what its caller can do about it, in one sentence. */
export function adviseOn({ code, message }: EgressError): string {
  const advice = ADVICE[code]
  return advice === undefined ? message : `${message.replace(/\.$/, "")}: ${advice}.`
}
