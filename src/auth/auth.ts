import { waitUntil } from "cloudflare:workers"
import { APIError, createAuthMiddleware } from "better-auth/api"
import { betterAuth } from "better-auth/minimal"
import { z } from "zod"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { newId } from "../ids.ts"
import { deleteAccount } from "../pipeline/accounts/deletion.ts"
import { readSignInProviders } from "../sign-in-providers.ts"
import { copyAccount } from "../storage/account-copies.ts"
import { directoryOf } from "../storage/database.ts"
import { removeUnverifiedUser, settleMailedLinks } from "../storage/users.ts"
import { admit } from "./admission.ts"
import { databaseFor } from "./database.ts"
import { databaseHooks } from "./database-hooks.ts"
import { PASSWORD_CHARACTERS } from "./limits.ts"
import { logger } from "./logger.ts"
import { mailsOf } from "./mails.ts"
import { passwords } from "./passwords.ts"
import { socialProvidersOf } from "./providers.ts"

/** Where better-auth's own routes are. */
export const AUTH_PATH = "/api/auth"

const DAY_SECONDS = 24 * 3600

export type Auth = ReturnType<typeof makeAuth>

const made = new WeakMap<object, Map<string, Auth>>()

/** The sign-in of people at an origin, made once for each. */
export function authOf(env: Env, origin: string): Auth {
  const known = made.get(env) ?? new Map<string, Auth>()
  made.set(env, known)
  const auth = known.get(origin) ?? makeAuth(env, origin)
  known.set(origin, auth)
  return auth
}

function makeAuth(env: Env, origin: string) {
  const mails = mailsOf(env, origin)
  return betterAuth({
    appName: "Lathe",
    baseURL: origin,
    basePath: AUTH_PATH,
    secret: settingsOf(env).LATHE_SECRET,
    telemetry: { enabled: false },
    logger,
    onAPIError: { errorURL: `${origin}/sign-in` },
    database: databaseFor(env),
    databaseHooks: databaseHooks(env),
    hooks: { before: admitFirst(env), after: tellNothingOfUser },
    advanced: {
      ...cookiesOf(origin),
      database: { generateId: newId },
      // Set by Cloudflare, and on one machine by the front; who sends it is not believed.
      ipAddress: { ipAddressHeaders: ["cf-connecting-ip"] },
      backgroundTasks: { handler: (work) => waitUntil(work) },
      disableCSRFCheck: false,
      disableOriginCheck: false,
    },
    user: userOptions(env, mails),
    session: { expiresIn: 7 * DAY_SECONDS, updateAge: DAY_SECONDS, freshAge: 15 * 60 },
    verification: { storeIdentifier: "hashed" },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: PASSWORD_CHARACTERS.min,
      maxPasswordLength: PASSWORD_CHARACTERS.max,
      password: passwords,
      requireEmailVerification: true,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: mails.sendReset,
      // Who has the link reads the mails of the address.
      onPasswordReset: async ({ user }) => await settleMailedLinks(directoryOf(env), user.id),
      onExistingUserSignUp: mails.tellKnownUser,
    },
    emailVerification: {
      sendVerificationEmail: mails.sendVerification,
      sendOnSignIn: true,
      autoSignInAfterVerification: true,
      expiresIn: DAY_SECONDS,
    },
    // A row for each sign-in that begins would be one for whoever asks.
    account: { updateAccountOnSignIn: false, storeStateStrategy: "cookie" },
    socialProviders: socialProvidersOf(readSignInProviders(env.SIGN_IN_PROVIDERS)),
    // better-auth would store a row for each path, also where it has no route.
    rateLimit: { enabled: false },
  })
}

/** Prefixes cookies with `__Host-` over https: browsers take that name from this host alone. */
function cookiesOf(origin: string) {
  const secure = origin.startsWith("https:")
  return {
    useSecureCookies: false,
    cookiePrefix: secure ? "__Host-lathe" : "lathe",
    defaultCookieAttributes: { secure },
  }
}

function userOptions(env: Env, mails: ReturnType<typeof mailsOf>) {
  return {
    additionalFields: {
      // Each user has one, which better-auth would require of who signs up.
      accountId: { type: "string", required: false, input: false },
      isOperator: { type: "boolean", required: false, input: false, defaultValue: false },
    },
    changeEmail: { enabled: true, sendChangeEmailConfirmation: mails.sendChange },
    // By the password, or soon after sign-in; the user goes with all that its account owns.
    deleteUser: {
      enabled: true,
      beforeDelete: async (user: object) => {
        await deleteAccount(env, owner.parse(user).accountId)
      },
    },
  } as const
}

const owner = z.object({ accountId: z.string() })
const signUp = z.object({ email: z.string(), invitation: z.string().optional() })

/**
 * Refuses who may not sign up before anything is looked up, so that the answer is the same for
 * every email; a user of the email who was never verified gives way.
 */
function admitFirst(env: Env) {
  return createAuthMiddleware(async (c) => {
    if (c.path !== "/sign-up/email") return
    const { data } = signUp.safeParse(c.body)
    const { email = "", invitation } = data ?? {}
    await admit(env, { email, isVerifiedBy: null, invitation })
    const removed = await removeUnverifiedUser(directoryOf(env), email.toLowerCase())
    if (removed) await copyAccount(env, removed.accountId)
  })
}

/**
 * Answers every sign-up alike. The user that better-auth makes up for an email that is known has
 * its fields in another order than one that was made, and the name that was sent as it was.
 */
const tellNothingOfUser = createAuthMiddleware(async (c) => {
  if (c.path !== "/sign-up/email" || c.context.returned instanceof APIError) return
  return c.json({ status: true })
})
