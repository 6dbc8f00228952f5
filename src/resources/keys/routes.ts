import { Hono } from "hono"
import { z } from "zod"
import { hashKey, makeKey, prefixOf } from "../../contract/api-key.ts"
import { makeWebhookSecret } from "../../contract/webhook-secret.ts"
import { PLANS } from "../../contract/plan.ts"
import { readJson } from "../../http/body.ts"
import type { App } from "../../http/context.ts"
import { notFound } from "../../http/problem.ts"
import { newId } from "../../ids.ts"
import { openDatabase } from "../../storage/database.ts"
import { createKey, listKeys, revokeKey } from "../../storage/keys.ts"
import { toDateTime } from "../../http/status.ts"

/** The operator's routes to keys. */
export const keys = new Hono<App>()

const keyRequest = z.strictObject({
  account: z.string("expected a text").trim().min(1, "it is empty").max(200),
  plan: z.enum(PLANS, `expected one of ${PLANS.join(", ")}`).optional(),
})

keys.post("/", async (c) => {
  const { account: accountName, plan } = await readJson(c, keyRequest)
  const now = Date.now()
  const key = makeKey()
  const prefix = prefixOf(key)
  const newAccountId = newId()
  const row = { id: newId(), accountId: newAccountId, hash: await hashKey(key), prefix }
  const account = await createKey(openDatabase(c.env.DB), {
    key: {
      ...row,
      createdAt: now,
      revokedAt: null,
    },
    accountName,
    newAccountId,
    webhookSecret: makeWebhookSecret(),
    ...(plan && { plan }),
  })
  const shown = { account: account.name, plan: account.plan, prefix, created_at: toDateTime(now) }
  return c.json({ id: row.id, key, ...shown }, 201)
})

keys.get("/", async (c) => {
  const rows = await listKeys(openDatabase(c.env.DB))
  return c.json(
    rows.map(({ key, account }) => ({
      id: key.id,
      prefix: key.prefix,
      account: account.name,
      plan: account.plan,
      created_at: toDateTime(key.createdAt),
      revoked_at: toDateTime(key.revokedAt),
    })),
  )
})

keys.delete("/:id", async (c) => {
  const hash = await revokeKey(openDatabase(c.env.DB), c.req.param("id"), Date.now())
  if (hash === null) throw notFound("key")
  await c.env.RATE_LIMITER.getByName(hash).forget()
  return c.json({})
})
