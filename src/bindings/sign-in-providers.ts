import type { SocialProviders } from "better-auth/social-providers"
import { z } from "zod"

/**
 * Sign-in services that are supported. Each service reports whether the user's email is verified,
 * and requires only a client id and a secret.
 */
export const SIGN_IN_PROVIDERS = [
  "discord",
  "dropbox",
  "github",
  "gitlab",
  "google",
  "huggingface",
  "linkedin",
  "microsoft",
  "slack",
  "twitch",
  "twitter",
  "vercel",
  "zoom",
] as const satisfies readonly (keyof SocialProviders)[]

export type SignInProvider = (typeof SIGN_IN_PROVIDERS)[number]

/** Reports whether a supported sign-in service has this name. */
export function isSignInProvider(name: string): name is SignInProvider {
  return SIGN_IN_PROVIDERS.some((provider) => provider === name)
}

const client = z.strictObject({
  clientId: z.string().min(1),
  clientSecret: z.string().min(1),
  /** URL of a self-hosted GitLab. */
  issuer: z.url().optional(),
})
const providers = z
  .partialRecord(z.enum(SIGN_IN_PROVIDERS), client)
  .refine((all) => Object.entries(all).every(([name, { issuer }]) => name === "gitlab" || !issuer))

export type SignInProviderSettings = z.infer<typeof providers>

/** Parses the setting SIGN_IN_PROVIDERS. Returns no services if the setting is unset. */
export function readSignInProviders(text: string | undefined): SignInProviderSettings {
  return text === undefined ? {} : providers.parse(JSON.parse(text))
}

/**
 * Describes the required format of the setting SIGN_IN_PROVIDERS if the setting is invalid. Returns
 * null for a valid setting.
 */
export function describeInvalidProviders(text: string): string | null {
  const expected = `expected JSON like {"github":{"clientId":"…","clientSecret":"…"}}, with any of ${SIGN_IN_PROVIDERS.join(", ")}`
  try {
    return providers.safeParse(JSON.parse(text)).success ? null : expected
  } catch {
    return expected
  }
}
