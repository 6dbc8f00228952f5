import { z } from "zod"
import { SIGN_IN_PROVIDERS } from "../../bindings/sign-in-providers.ts"
import { EMAIL_LENGTH_MAX } from "./limits.ts"
import type { AuthRoute } from "./limits.ts"
import { emailTooLongError, authError } from "./auth-errors.ts"

const email = z.email("expected an email address").max(EMAIL_LENGTH_MAX)
const password = z.string("expected a string")
const token = z.string("expected a string")
const url = z.string("expected a string").max(2048, "expected at most 2048 characters")
const nothing = z.strictObject({})

/**
 * Schemas of the request bodies of the sign-in routes. The schemas accept only fields that a page
 * of the dashboard sends, and limit the length of every stored field.
 */
export const AUTH_BODY_SCHEMAS = {
  "/change-email": z.strictObject({ newEmail: email }),
  "/change-password": z.strictObject({
    currentPassword: password,
    newPassword: password,
    revokeOtherSessions: z.boolean("expected true or false").optional(),
  }),
  "/confirm-email": z.union(
    [z.strictObject({ token, password }), z.strictObject({ token, newPassword: password })],
    "expected a token, and either password or newPassword",
  ),
  "/confirm-email-change": z.strictObject({ token }),
  "/delete-user": z.strictObject({ password: password.optional() }),
  "/request-password-reset": z.strictObject({ email }),
  "/reset-password": z.strictObject({ token, newPassword: password }),
  "/revoke-other-sessions": nothing,
  "/revoke-session": z.strictObject({ token }),
  "/send-verification-email": z.strictObject({ email }),
  "/sign-in/email": z.strictObject({ email, password }),
  "/sign-in/social": z.strictObject({
    provider: z.enum(SIGN_IN_PROVIDERS, "expected the name of a sign-in service"),
    callbackURL: url,
    errorCallbackURL: url,
  }),
  "/sign-out": nothing,
  "/sign-up/email": z.strictObject({
    email,
    password,
    /**
     * Name of the user, accepted for clients of better-auth and ignored. The email becomes the name
     * of the user.
     */
    name: z.string("expected a string").max(200, "expected at most 200 characters").optional(),
    invitation: token.optional(),
  }),
} as const satisfies Record<PostPath, z.ZodType>

type PostPath = Extract<AuthRoute, { method: "POST" }>["path"]

export type AuthBodyPath = keyof typeof AUTH_BODY_SCHEMAS

/** Throws a 400 response that names the first invalid field of a body. */
export function checkAuthBody(path: string | undefined, body: unknown): void {
  if (path === undefined || !hasBody(path)) return
  const { error } = AUTH_BODY_SCHEMAS[path].safeParse(body ?? {})
  const [issue] = error?.issues ?? []
  if (!issue) return
  const field = issue.path.join(".") || "body"
  const isEmail = /^(?:newE|e)mail$/.test(field)
  if (isEmail && issue.code === "too_big") throw emailTooLongError()
  const code = isEmail ? "INVALID_EMAIL" : "VALIDATION_ERROR"
  throw authError("BAD_REQUEST", code, `${field}: ${issue.message}`)
}

function hasBody(path: string): path is AuthBodyPath {
  return Object.hasOwn(AUTH_BODY_SCHEMAS, path)
}
