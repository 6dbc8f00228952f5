import type { SocialProviders } from "better-auth/social-providers"
import type { SignInProviders } from "../sign-in-providers.ts"

/** The services of the settings as better-auth takes them. */
export function socialProvidersOf(providers: SignInProviders): SocialProviders {
  const { gitlab, ...others } = providers
  return { ...others, ...(gitlab && { gitlab: { ...gitlab, mapProfileToUser: confirmed } }) }
}

/** GitLab says when an email was confirmed, and not as others do that it is. */
function confirmed(profile: object): { emailVerified: boolean } {
  return { emailVerified: "confirmed_at" in profile && typeof profile.confirmed_at === "string" }
}
