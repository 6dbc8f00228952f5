import { drizzleAdapter } from "better-auth/adapters/drizzle"
import { APIError } from "better-auth/api"
import type { BetterAuthOptions } from "better-auth/minimal"
import type { DBAdapter } from "better-auth/types"
import { z } from "zod"
import type { Env } from "../env.ts"
import { newId } from "../ids.ts"
import { makeWebhookSecret } from "../pipeline/webhooks/signing.ts"
import { copyAccount } from "../storage/account-copies.ts"
import { directoryOf } from "../storage/database.ts"
import { createUser, findSession } from "../storage/users.ts"
import * as schema from "../storage/schema/users.ts"

const madeUser = z.object({
  name: z.string(),
  email: z.string(),
  emailVerified: z.boolean(),
  accountId: z.string(),
  createdAt: z.date(),
  updatedAt: z.date(),
  admittedBy: z.union([
    z.strictObject({ plan: z.string() }),
    z.strictObject({ invitationId: z.string() }),
  ]),
})

/**
 * better-auth's adapter for D1, which makes a user together with its account, and finds a session
 * together with its user.
 */
export function databaseFor(env: Env) {
  const makeAdapter = drizzleAdapter(directoryOf(env), {
    provider: "sqlite",
    schema: {
      user: schema.users,
      session: schema.sessions,
      account: schema.credentials,
      verification: schema.verifications,
    },
  })
  return (options: BetterAuthOptions) => {
    const plain = makeAdapter(options)
    const adapter: DBAdapter = {
      ...plain,
      create: async <T extends Record<string, unknown>, R = T>(
        wanted: Parameters<typeof plain.create<T, R>>[0],
      ): Promise<R> => {
        if (wanted.model !== "user") return await plain.create<T, R>(wanted)
        return z.custom<R>().parse(await createWithAccount(env, wanted.data))
      },
      findOne: async <T>(wanted: Parameters<typeof plain.findOne<T>>[0]): Promise<T | null> => {
        const token = tokenOf(wanted)
        if (token === null) return await plain.findOne<T>(wanted)
        return z.custom<T | null>().parse(await findSession(directoryOf(env), token))
      },
      // What it hands to its work is without a transaction of D1, which has none, itself.
      transaction: async (work) => await work(adapter),
    }
    return adapter
  }
}

const byToken = z.object({
  model: z.literal("session"),
  where: z.tuple([z.object({ field: z.literal("token"), value: z.string() })]),
  join: z.object({ user: z.literal(true) }),
})

/** The token by which better-auth looks for a session with its user; null where it does not. */
function tokenOf(wanted: object): string | null {
  return byToken.safeParse(wanted).data?.where[0].value ?? null
}

async function createWithAccount(env: Env, data: unknown): Promise<schema.User> {
  const { admittedBy, ...user } = madeUser.parse(data)
  const made = await createUser(directoryOf(env), {
    user: { ...user, id: newId(), image: null, isOperator: false },
    // better-auth stores the credential of the other service.
    passwordHash: null,
    webhookSecret: makeWebhookSecret(),
    replaced: null,
    admittedBy,
  })
  if (!made) throw new APIError("FORBIDDEN", { code: "USER_EXISTS", message: "Try again." })
  await copyAccount(env, user.accountId)
  return made
}
