import { APIError } from "better-auth/api"
import { EMAIL_LENGTH_MAX } from "./limits.ts"

/**
 * Returns the error response of a sign-in route, with an HTTP status, an error code of
 * better-auth's form and a sentence.
 */
export function authError(
  status: "BAD_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN",
  code: string,
  message: string,
): APIError {
  return new APIError(status, { code, message })
}

/** Returns the error for an email that is too long to be stored. */
export function emailTooLongError(): APIError {
  const message = `An email has at most ${EMAIL_LENGTH_MAX} characters.`
  return authError("BAD_REQUEST", "EMAIL_TOO_LONG", message)
}

/** Returns the error for a mailed link that is invalid. */
export function invalidLinkError(): APIError {
  const message = "The link is used, expired or incomplete."
  return authError("BAD_REQUEST", "INVALID_TOKEN", message)
}

/** Returns the error for a mailed link that belongs to another user than the signed-in user. */
export function otherUserSignedInError(): APIError {
  return authError("FORBIDDEN", "SIGNED_IN_AS_ANOTHER", "You are signed in as another user.")
}
