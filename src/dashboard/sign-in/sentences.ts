import { PASSWORD_CHARACTERS } from "../../auth/limits.ts"
const LINK_VOID = "This link was used, is too old, or is not complete. Ask for another one."
const NOT_LINKED =
  "There is a user with this email who signs in another way. Sign in as before, or set a password first."
const PROVIDER_FAILED = "The service that you wanted to sign in by did not answer as it should."

/** What better-auth's codes mean to who reads them; the others have a sentence of their own. */
const SENTENCES: Record<string, string> = {
  INVALID_EMAIL_OR_PASSWORD: "The email or the password is not right.",
  INVALID_EMAIL: "This is no email address.",
  INVALID_PASSWORD: "The password is not right.",
  VALIDATION_ERROR: "A field is missing or not as it should be.",
  PASSWORD_TOO_SHORT: `A password has at least ${PASSWORD_CHARACTERS.min} characters.`,
  PASSWORD_TOO_LONG: `A password has at most ${PASSWORD_CHARACTERS.max} characters.`,
  INVALID_TOKEN: LINK_VOID,
  TOKEN_EXPIRED: LINK_VOID,
  USER_NOT_FOUND: LINK_VOID,
  EMAIL_NOT_VERIFIED: "Confirm your email first: follow the link in the mail that was sent to you.",
}

/** What comes back from another service by the address, and says nothing by itself. */
const RETURNED: Record<string, string> = {
  ...SENTENCES,
  EMAIL_NOT_VERIFIED: "The service that you sign in by does not say that your email is yours.",
  SIGN_UP_CLOSED: "There is no user with this email, and sign-up is not open.",
  ACCOUNT_DELETED: "This account is deleted.",
  account_not_linked: NOT_LINKED,
  access_denied: "You did not allow it at the other service.",
  email_not_found: "The service that you sign in by does not say what your email is.",
  state_mismatch: "This took too long, or began in another browser. Try once more.",
  please_restart_the_process: "This took too long, or began in another browser. Try once more.",
}

/** Why better-auth refuses, in a sentence for who asked. */
export function sentenceOf({ code, message }: { code: string; message: string }): string {
  return SENTENCES[code] ?? message
}

/** Why a sign-in by another service did not work, which brings only a code back. */
export function sentenceOfReturned(code: string): string {
  return RETURNED[code] ?? PROVIDER_FAILED
}
