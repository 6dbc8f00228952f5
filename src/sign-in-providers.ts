import type { SocialProviders } from "better-auth/social-providers"
import { z } from "zod"

/**
 * Services that people may sign in by: those that say whether an email is its user's, and of which
 * an id and a secret are all that is needed.
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

/** Whether a service is one of those. */
export function isSignInProvider(name: string): name is SignInProvider {
  return SIGN_IN_PROVIDERS.some((known) => known === name)
}

const client = z.strictObject({
  clientId: z.string().min(1),
  clientSecret: z.string().min(1),
  /** Where a GitLab of one's own is. */
  issuer: z.url().optional(),
})
const providers = z
  .partialRecord(z.enum(SIGN_IN_PROVIDERS), client)
  .refine((all) => Object.entries(all).every(([name, { issuer }]) => name === "gitlab" || !issuer))

export type SignInProviders = z.infer<typeof providers>

/** The services of SIGN_IN_PROVIDERS; none where it is not set. */
export function readSignInProviders(text: string | undefined): SignInProviders {
  return text === undefined ? {} : providers.parse(JSON.parse(text))
}

/** What is wrong with SIGN_IN_PROVIDERS, in words that show no secret; null where nothing is. */
export function judgeSignInProviders(text: string): string | null {
  const expected = `expected JSON like {"github":{"clientId":"…","clientSecret":"…"}}, with any of ${SIGN_IN_PROVIDERS.join(", ")}`
  try {
    return providers.safeParse(JSON.parse(text)).success ? null : expected
  } catch {
    return expected
  }
}
