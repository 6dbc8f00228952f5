import { signJWT, verifyJWT } from "better-auth/crypto"
import { z } from "zod"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { directoryOf } from "../storage/database.ts"
import type { User } from "../storage/schema/users.ts"
import { findUser } from "../storage/users.ts"

const LIFE_SECONDS = 24 * 3600

/**
 * Purpose of a mailed link: `confirm` the email of a sign-up, `agree` at the present address to another
 * email, `change` to that email at the new address.
 */
export type LinkPurpose = { purpose: "confirm" } | { purpose: "agree" | "change"; newEmail: string }

/** A mailed link with its user. */
export type EmailLink = LinkPurpose & { user: User }

const claims = z.intersection(
  z.object({ userId: z.string(), email: z.string(), iat: z.number() }),
  z.discriminatedUnion("purpose", [
    z.object({ purpose: z.literal("confirm") }),
    z.object({ purpose: z.enum(["agree", "change"]), newEmail: z.string() }),
  ]),
)

/** Makes the token of a mailed link: a JWT that is valid for a day. */
export async function makeEmailLink(
  env: Env,
  { id: userId, email }: Pick<User, "id" | "email">,
  link: LinkPurpose,
): Promise<string> {
  return await signJWT({ ...link, userId, email }, settingsOf(env).LATHE_SECRET, LIFE_SECONDS)
}

/**
 * Reads the token of a mailed link; null where the token is void. Any later change of the user makes a
 * token void: its own use, a reset of the password, another email.
 */
export async function readEmailLink(env: Env, token: string): Promise<EmailLink | null> {
  const { data } = claims.safeParse(await verifyJWT(token, settingsOf(env).LATHE_SECRET))
  const user = data && (await findUser(directoryOf(env), data.userId))
  if (!user || user.email !== data.email) return null
  if (data.iat < Math.floor(user.updatedAt.getTime() / 1000)) return null
  if (data.purpose !== "confirm") return { ...data, user }
  return user.emailVerified ? null : { purpose: "confirm", user }
}
