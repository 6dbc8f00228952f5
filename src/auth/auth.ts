import { waitUntil } from "cloudflare:workers"
import { betterAuth } from "better-auth/minimal"
import { z } from "zod"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { newId } from "../ids.ts"
import { deleteAccount } from "../pipeline/accounts/deletion.ts"
import { readSignInProviders } from "../sign-in-providers.ts"
import { directoryOf } from "../storage/database.ts"
import { settleMailedLinks } from "../storage/unconfirmed-users.ts"
import { confirmEmail } from "./confirmations.ts"
import { databaseFor } from "./database.ts"
import { databaseHooks } from "./database-hooks.ts"
import { confirmEmailChange, requestEmailChange } from "./email-changes.ts"
import { judgeRequests } from "./judge-requests.ts"
import { PASSWORD_CHARACTERS } from "./limits.ts"
import { requestConfirmation, requestReset } from "./link-requests.ts"
import { logger } from "./logger.ts"
import { mailsOf } from "./mails.ts"
import type { Mails } from "./mails.ts"
import { passwords } from "./passwords.ts"
import { socialProvidersOf } from "./providers.ts"
import { signUpByPassword } from "./sign-up.ts"

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
    hooks: { before: judgeRequests(env, origin) },
    plugins: [ownRoutes(env, mails)],
    advanced: {
      ...cookiesOf(origin),
      database: { generateId: newId },
      // Set by Cloudflare, and on one machine by the front; who sends it is not believed.
      ipAddress: { ipAddressHeaders: ["cf-connecting-ip"] },
      backgroundTasks: { handler: (work) => waitUntil(work) },
      disableCSRFCheck: false,
      disableOriginCheck: false,
    },
    user: userOptions(env),
    session: { expiresIn: 7 * DAY_SECONDS, updateAge: DAY_SECONDS, freshAge: 15 * 60 },
    verification: { storeIdentifier: "hashed" },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: PASSWORD_CHARACTERS.min,
      maxPasswordLength: PASSWORD_CHARACTERS.max,
      password: passwords,
      requireEmailVerification: true,
      revokeSessionsOnPasswordReset: true,
      // Who has the link reads the mails of the address.
      onPasswordReset: async ({ user }) => await settleMailedLinks(directoryOf(env), user.id),
    },
    emailVerification: {
      // Called at a sign-in with the right password before the email is confirmed.
      sendVerificationEmail: async ({ user }) => await mails.confirm(user),
      sendOnSignIn: true,
    },
    // A row for each sign-in that begins would be one for whoever asks.
    account: { updateAccountOnSignIn: false, storeStateStrategy: "cookie" },
    socialProviders: socialProvidersOf(readSignInProviders(env.SIGN_IN_PROVIDERS)),
    // better-auth would store a row for each path, also where it has no route.
    rateLimit: { enabled: false },
  })
}

/** Replaces four routes of better-auth by their keys, and adds the two that confirm an email. */
function ownRoutes(env: Env, mails: Mails) {
  const endpoints = {
    signUpEmail: signUpByPassword(env, mails),
    requestPasswordReset: requestReset(env, mails),
    sendVerificationEmail: requestConfirmation(env, mails),
    confirmEmail: confirmEmail(env),
    changeEmail: requestEmailChange(env, mails),
    confirmEmailChange: confirmEmailChange(env, mails),
  }
  return { id: "lathe", endpoints } as const
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

function userOptions(env: Env) {
  return {
    additionalFields: {
      // Each user has one, which better-auth would require of who signs up.
      accountId: { type: "string", required: false, input: false },
      isOperator: { type: "boolean", required: false, input: false, defaultValue: false },
    },
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
