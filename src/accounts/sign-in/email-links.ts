import { signJWT, verifyJWT } from "better-auth/crypto"
import { z } from "zod"
import { getSettings } from "../../bindings/env.ts"
import type { Env } from "../../bindings/env.ts"
import { openDirectory } from "../../db/database.ts"
import type { User } from "../../db/schema/users.ts"
import { findUser } from "../../db/accounts/users.ts"

const LIFE_SECONDS = 24 * 3600

/**
 * Purpose of a mailed link. `confirm` confirms the email of a sign-up. `agree`, mailed to the
 * present address, agrees to a new email. `change`, mailed to the new address, completes the
 * change.
 */
export type EmailLinkPurpose =
  | { purpose: "confirm" }
  | { purpose: "agree" | "change"; newEmail: string }

/** Valid mailed link, and the user for whom it was made. */
export type EmailLink = EmailLinkPurpose & { user: User }

const claims = z.intersection(
  z.object({ userId: z.string(), email: z.string(), iat: z.number() }),
  z.discriminatedUnion("purpose", [
    z.object({ purpose: z.literal("confirm") }),
    z.object({ purpose: z.enum(["agree", "change"]), newEmail: z.string() }),
  ]),
)

/** Creates the token of a mailed link: a signed JWT that is valid for a day. */
export async function makeEmailLinkToken(
  env: Env,
  { id: userId, email }: Pick<User, "id" | "email">,
  link: EmailLinkPurpose,
): Promise<string> {
  return await signJWT({ ...link, userId, email }, getSettings(env).LATHE_SECRET, LIFE_SECONDS)
}

/**
 * Verifies the token of a mailed link. Returns null for an invalid token. Every later change of the
 * user invalidates the token: the use of the link itself, a password reset or a change of email.
 */
export async function verifyEmailLinkToken(env: Env, token: string): Promise<EmailLink | null> {
  const { data } = claims.safeParse(await verifyJWT(token, getSettings(env).LATHE_SECRET))
  const user = data && (await findUser(openDirectory(env), data.userId))
  if (!user || user.email !== data.email) return null
  if (data.iat < Math.floor(user.updatedAt.getTime() / 1000)) return null
  if (data.purpose !== "confirm") return { ...data, user }
  return user.emailVerified ? null : { purpose: "confirm", user }
}
