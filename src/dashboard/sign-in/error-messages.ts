import { PASSWORD_LENGTH_RANGE } from "../../accounts/sign-in/limits.ts"
const LINK_VOID = "The link is used, expired or incomplete. Request another link."
const NOT_LINKED =
  "The user of this email address signs in another way. Sign in as before, or set a password first."
const PROVIDER_FAILED = "The sign-in service did not answer correctly. Try again."

/**
 * Sentences for the error codes of better-auth. For any other code, the page shows the message of
 * better-auth.
 */
const SENTENCES: Record<string, string> = {
  INVALID_EMAIL_OR_PASSWORD: "The email or the password is wrong.",
  INVALID_EMAIL: "Enter a valid email address.",
  INVALID_PASSWORD: "The password is wrong.",
  VALIDATION_ERROR: "A field is missing or invalid.",
  PASSWORD_TOO_SHORT: `A password has at least ${PASSWORD_LENGTH_RANGE.min} characters.`,
  PASSWORD_TOO_LONG: `A password has at most ${PASSWORD_LENGTH_RANGE.max} characters.`,
  INVALID_TOKEN: LINK_VOID,
  TOKEN_EXPIRED: LINK_VOID,
  USER_NOT_FOUND: LINK_VOID,
  EMAIL_NOT_VERIFIED: "Confirm your email first: follow the link in the mail that we sent you.",
}

/**
 * Sentences by error code, for the code in the URL after a sign-in by an external service failed.
 */
const RETURNED: Record<string, string> = {
  ...SENTENCES,
  EMAIL_NOT_VERIFIED: "The sign-in service has not verified your email address.",
  SIGN_UP_CLOSED: "No user has this email address, and sign-up is closed.",
  ACCOUNT_DELETED: "The account is deleted.",
  account_not_linked: NOT_LINKED,
  access_denied: "You did not allow the sign-in at the other service.",
  email_not_found: "The sign-in service does not give your email address.",
  state_mismatch: "The sign-in took too long or began in another browser. Try again.",
  please_restart_the_process: "The sign-in took too long or began in another browser. Try again.",
}

/** Returns the sentence that a page shows for an error of better-auth. */
export function explainBetterAuthError({
  code,
  message,
}: {
  code: string
  message: string
}): string {
  return SENTENCES[code] ?? message
}

/**
 * Returns the sentence for the error code in the URL after a sign-in by an external service failed.
 */
export function explainSignInErrorCode(code: string): string {
  return RETURNED[code] ?? PROVIDER_FAILED
}
