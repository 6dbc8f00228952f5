import { z } from "zod"
import { SIGN_IN_PROVIDERS } from "../sign-in-providers.ts"
import { EMAIL_LENGTH_MAX } from "./limits.ts"
import type { AuthRoute } from "./limits.ts"
import { emailTooLong, refusal } from "./refusal.ts"

const email = z.email("expected an email address").max(EMAIL_LENGTH_MAX)
const password = z.string("expected a text")
const token = z.string("expected a text")
const url = z.string("expected a text").max(2048, "expected at most 2048 characters")
const nothing = z.strictObject({})

/** Bodies of the mounted routes for POST: only fields that a page sends, each that is stored bounded. */
export const BODIES = {
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
    provider: z.enum(SIGN_IN_PROVIDERS, "expected a service that people may sign in by"),
    callbackURL: url,
    errorCallbackURL: url,
  }),
  "/sign-out": nothing,
  "/sign-up/email": z.strictObject({
    email,
    password,
    /** Accepted, since clients of better-auth send it, and ignored: the email names a user. */
    name: z.string("expected a text").max(200, "expected at most 200 characters").optional(),
    invitation: token.optional(),
  }),
} as const satisfies Record<PostPath, z.ZodType>

type PostPath = Extract<AuthRoute, { method: "POST" }>["path"]

export type BodyPath = keyof typeof BODIES

/** Throws a 400 that names the first wrong field of a body. */
export function judgeBody(path: string | undefined, body: unknown): void {
  if (path === undefined || !hasBody(path)) return
  const { error } = BODIES[path].safeParse(body ?? {})
  const [issue] = error?.issues ?? []
  if (!issue) return
  const field = issue.path.join(".") || "body"
  const isEmail = /^(?:newE|e)mail$/.test(field)
  if (isEmail && issue.code === "too_big") throw emailTooLong()
  const code = isEmail ? "INVALID_EMAIL" : "VALIDATION_ERROR"
  throw refusal("BAD_REQUEST", code, `${field}: ${issue.message}`)
}

function hasBody(path: string): path is BodyPath {
  return Object.hasOwn(BODIES, path)
}
