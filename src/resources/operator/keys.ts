import { Hono } from "hono"
import { z } from "zod"
import { readJson } from "../../http/request.ts"
import type { App } from "../../http/request.ts"
import { notFound } from "../../http/problem.ts"
import { toDateTime } from "../../kinds/record-fields.ts"
import { issueKey, withdrawKey } from "../../pipeline/accounts/keys.ts"
import { directoryOf } from "../../storage/database.ts"
import { listKeys } from "../../storage/keys.ts"
import { accountName, planName } from "./fields.ts"

/** The operator's routes to keys. */
export const keys = new Hono<App>()

const keyRequest = z.strictObject({ account: accountName, plan: planName.optional() })

keys.post("/", async (c) => {
  const wanted = await readJson(c, keyRequest)
  const { key, row, account } = await issueKey(c.env, {
    accountName: wanted.account,
    plan: wanted.plan,
  })
  const shown = { account: account.name, plan: account.plan, prefix: row.prefix }
  return c.json({ id: row.id, key, ...shown, created_at: toDateTime(row.createdAt) }, 201)
})

keys.get("/", async (c) => {
  const rows = await listKeys(directoryOf(c.env))
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
  if (!(await withdrawKey(c.env, c.req.param("id")))) throw notFound("key")
  return c.json({})
})
