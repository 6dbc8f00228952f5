import { waitUntil } from "cloudflare:workers"
import { betterAuth } from "better-auth/minimal"
import { z } from "zod"
import { getSettings } from "../../bindings/env.ts"
import type { Env } from "../../bindings/env.ts"
import { newId } from "../../platform/ids.ts"
import { beginAccountDeletion } from "../deletion.ts"
import { readSignInProviders } from "../../bindings/sign-in-providers.ts"
import { openDirectory } from "../../db/database.ts"
import { confirmUserByMailedLink } from "../../db/accounts/unconfirmed-users.ts"
import { confirmEmailEndpoint } from "./confirmations.ts"
import { makeBetterAuthDatabaseAdapter } from "./database.ts"
import { makeBetterAuthDatabaseHooks } from "./database-hooks.ts"
import { confirmEmailChangeEndpoint, emailChangeEndpoint } from "./email-changes.ts"
import { makeAuthRequestCheck } from "./check-requests.ts"
import { PASSWORD_LENGTH_RANGE } from "./limits.ts"
import { confirmationLinkEndpoint, passwordResetEndpoint } from "./link-requests.ts"
import { makeSignInMailers } from "./mails.ts"
import type { SignInMailers } from "./mails.ts"
import { passwordHasher } from "./passwords.ts"
import { signUpEndpoint } from "./sign-up.ts"
import { log } from "../../platform/log.ts"
import type { SocialProviders } from "better-auth/social-providers"
import type { SignInProviderSettings } from "../../bindings/sign-in-providers.ts"

const TEXT_LENGTH_MAX = 300

/**
 * Patterns of better-auth's messages about invalid requests, which are not errors of the service.
 */
const ABOUT_CALLERS =
  /^(?:Invalid (?:origin|\w*URL): |Blocked cross-site navigation |Failed to parse state$|State not found$|INVALID_CALLBACK_REQUEST$|Provider (?:not found|does not support) |OAuth issuer mismatch$|Failed to get user info$)/

type Level = "debug" | "info" | "success" | "warn" | "error"

/**
 * Logger of better-auth that keeps only errors. Only the names and causes of database errors
 * are logged, because their messages quote values.
 */
const logger = {
  disableColors: true,
  log(level: Exclude<Level, "success">, message: string, ...facts: unknown[]): void {
    if (level !== "error") return
    const text = message.slice(0, TEXT_LENGTH_MAX)
    if (ABOUT_CALLERS.test(message)) {
      log("info", "auth.refused", { message: text })
      return
    }
    const causes = facts.flatMap((fact) => (fact instanceof Error ? [nameOf(fact)] : []))
    log("error", "auth.failed", { message: text, causes })
  },
}

function nameOf(error: Error): string {
  const { cause } = error
  return cause instanceof Error ? `${error.name}: ${cause.message}` : error.name
}

/** Path prefix of better-auth's routes. */
export const AUTH_PATH = "/api/auth"

const DAY_SECONDS = 24 * 3600

export type BetterAuthInstance = ReturnType<typeof makeAuth>

const instances = new WeakMap<object, Map<string, BetterAuthInstance>>()

/**
 * Returns the better-auth instance that signs users in at an origin. Each origin has one instance
 * for each environment.
 */
export function getBetterAuth(env: Env, origin: string): BetterAuthInstance {
  const byOrigin = instances.get(env) ?? new Map<string, BetterAuthInstance>()
  instances.set(env, byOrigin)
  const auth = byOrigin.get(origin) ?? makeAuth(env, origin)
  byOrigin.set(origin, auth)
  return auth
}

function makeAuth(env: Env, origin: string) {
  const mails = makeSignInMailers(env, origin)
  return betterAuth({
    appName: "Lathe",
    baseURL: origin,
    basePath: AUTH_PATH,
    secret: getSettings(env).LATHE_SECRET,
    telemetry: { enabled: false },
    logger,
    onAPIError: { errorURL: `${origin}/sign-in` },
    database: makeBetterAuthDatabaseAdapter(env),
    databaseHooks: makeBetterAuthDatabaseHooks(env),
    hooks: { before: makeAuthRequestCheck(env, origin) },
    plugins: [ownRoutes(env, mails)],
    advanced: {
      ...cookiesOf(origin),
      database: { generateId: newId },
      // Cloudflare sets `cf-connecting-ip`. On one machine, the Worker's entrypoint `callers` sets
      // the header. Both drop a value that the client sent.
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
      minPasswordLength: PASSWORD_LENGTH_RANGE.min,
      maxPasswordLength: PASSWORD_LENGTH_RANGE.max,
      password: passwordHasher,
      requireEmailVerification: true,
      revokeSessionsOnPasswordReset: true,
      // A password reset also confirms the email, because the user has followed a link that was
      // mailed to the address.
      onPasswordReset: async ({ user }) =>
        await confirmUserByMailedLink(openDirectory(env), user.id),
    },
    emailVerification: {
      // better-auth calls this function after a sign-in with the right password if the email is not
      // confirmed.
      sendVerificationEmail: async ({ user }) => await mails.confirm(user),
      sendOnSignIn: true,
    },
    // A cookie stores the state of a sign-in in progress. A row in D1 would let any visitor write
    // to the database.
    account: { updateAccountOnSignIn: false, storeStateStrategy: "cookie" },
    socialProviders: socialProvidersOf(readSignInProviders(env.SIGN_IN_PROVIDERS)),
    // better-auth's own rate limit would store a row for each path, even for unknown paths.
    rateLimit: { enabled: false },
  })
}

/**
 * Returns a plugin that replaces four endpoints of better-auth by endpoints of the same names, and
 * adds two endpoints that confirm an email.
 */
function ownRoutes(env: Env, mails: SignInMailers) {
  const endpoints = {
    signUpEmail: signUpEndpoint(env, mails),
    requestPasswordReset: passwordResetEndpoint(env, mails),
    sendVerificationEmail: confirmationLinkEndpoint(env, mails),
    confirmEmail: confirmEmailEndpoint(env),
    changeEmail: emailChangeEndpoint(env, mails),
    confirmEmailChange: confirmEmailChangeEndpoint(env, mails),
  }
  return { id: "lathe", endpoints } as const
}

/**
 * Returns cookie options. Cookies over https have names that begin with `__Host-`, because browsers
 * accept such cookies only from this host.
 */
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
      // Every user has an account. The field is optional because `required` would demand the
      // account's id in the sign-up request.
      accountId: { type: "string", required: false, input: false },
      isOperator: { type: "boolean", required: false, input: false, defaultValue: false },
    },
    // Deletes the user with all data of the account. The deletion requires the password or a recent
    // sign-in.
    deleteUser: {
      enabled: true,
      beforeDelete: async (user: object) => {
        await beginAccountDeletion(env, owner.parse(user).accountId)
      },
    },
  } as const
}

const owner = z.object({ accountId: z.string() })

/** Converts the configured sign-in services to better-auth's format. */
function socialProvidersOf(providers: SignInProviderSettings): SocialProviders {
  const { gitlab, ...others } = providers
  return { ...others, ...(gitlab && { gitlab: { ...gitlab, mapProfileToUser: confirmed } }) }
}

/**
 * Converts `confirmed_at` of a GitLab profile to `emailVerified`, the field in which other sign-in
 * services report a verified email.
 */
function confirmed(profile: object): { emailVerified: boolean } {
  return { emailVerified: "confirmed_at" in profile && typeof profile.confirmed_at === "string" }
}
