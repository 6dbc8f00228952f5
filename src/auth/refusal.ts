import { APIError } from "better-auth/api"
import { EMAIL_LENGTH_MAX } from "./limits.ts"

/** Makes the error answer of a route of sign-in: a status, a code and a sentence. */
export function refusal(
  status: "BAD_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN",
  code: string,
  message: string,
): APIError {
  return new APIError(status, { code, message })
}

/** Makes the answer to an email that is too long to be stored. */
export function emailTooLong(): APIError {
  const message = `An email has at most ${EMAIL_LENGTH_MAX} characters.`
  return refusal("BAD_REQUEST", "EMAIL_TOO_LONG", message)
}

/** Makes the answer to a mailed link that is void. */
export function linkVoid(): APIError {
  const message = "The link was used, is too old, or is not complete."
  return refusal("BAD_REQUEST", "INVALID_TOKEN", message)
}

/** Makes the answer to a mailed link of another user than the one who is signed in. */
export function signedInAsAnother(): APIError {
  return refusal("FORBIDDEN", "SIGNED_IN_AS_ANOTHER", "You are signed in as another user.")
}
