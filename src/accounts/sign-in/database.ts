import { drizzleAdapter } from "better-auth/adapters/drizzle"
import { APIError } from "better-auth/api"
import type { BetterAuthOptions } from "better-auth/minimal"
import type { DBAdapter } from "better-auth/types"
import { z } from "zod"
import type { Env } from "../../bindings/env.ts"
import { newId } from "../../platform/ids.ts"
import { makeWebhookSecret } from "../../webhooks/signing.ts"
import { syncAccountCopy } from "../../db/accounts/account-copies.ts"
import { openDirectory } from "../../db/database.ts"
import { createUser, findSession } from "../../db/accounts/users.ts"
import * as schema from "../../db/schema/users.ts"

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
 * Returns better-auth's database adapter for D1. The adapter creates each user together with an
 * account, and reads each session together with its user.
 */
export function makeBetterAuthDatabaseAdapter(env: Env) {
  const makeAdapter = drizzleAdapter(openDirectory(env), {
    provider: "sqlite",
    schema: {
      user: schema.users,
      session: schema.sessions,
      account: schema.credentials,
      verification: schema.mailedLinkTokens,
    },
  })
  return (options: BetterAuthOptions) => {
    const plain = makeAdapter(options)
    const adapter: DBAdapter = {
      ...plain,
      create: async <T extends Record<string, unknown>, R = T>(
        record: Parameters<typeof plain.create<T, R>>[0],
      ): Promise<R> => {
        if (record.model !== "user") return await plain.create<T, R>(record)
        return z.custom<R>().parse(await createWithAccount(env, record.data))
      },
      findOne: async <T>(query: Parameters<typeof plain.findOne<T>>[0]): Promise<T | null> => {
        const token = tokenOf(query)
        if (token === null) return await plain.findOne<T>(query)
        return z.custom<T | null>().parse(await findSession(openDirectory(env), token))
      },
      // Calls `work` without a transaction, because D1 has no interactive transactions.
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

/**
 * Returns the session token if a query of better-auth reads a session with its user; null for other
 * queries.
 */
function tokenOf(query: object): string | null {
  return byToken.safeParse(query).data?.where[0].value ?? null
}

async function createWithAccount(env: Env, data: unknown): Promise<schema.User> {
  const { admittedBy, ...user } = madeUser.parse(data)
  const created = await createUser(openDirectory(env), {
    user: { ...user, id: newId(), image: null, isOperator: false },
    // The user of a sign-in service has no password; better-auth stores the credential itself.
    passwordHash: null,
    webhookSecret: makeWebhookSecret(),
    replaced: null,
    admittedBy,
  })
  if (!created) throw new APIError("FORBIDDEN", { code: "USER_EXISTS", message: "Try again." })
  await syncAccountCopy(env, user.accountId)
  return created
}
