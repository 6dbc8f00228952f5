import { Hono } from "hono"
import { z } from "zod"
import { parseBody, publicOrigin, readJson, readOptionalJson } from "../../http/request.ts"
import type { App } from "../../http/request.ts"
import {
  keyExpiry,
  keyName,
  keyScopes,
  notRotatable,
  overlapSeconds,
  viewKey,
} from "../../http/key-fields.ts"
import { notFound } from "../../http/problem.ts"
import { issueKey, rotateKey, withdrawKey } from "../../pipeline/accounts/keys.ts"
import { databaseOf, directoryOf } from "../../storage/database.ts"
import { findKeyOwner, listKeys } from "../../storage/keys.ts"
import { accountName, planNameOf } from "./fields.ts"

/** The operator's routes to keys. */
export const keys = new Hono<App>()

const LIMIT = { byDefault: 100, max: 1000 }

const rotation = z.strictObject({ overlap_seconds: overlapSeconds })

const pageQuery = z.strictObject({
  limit: z.coerce.number("expected a number").int().min(1).max(LIMIT.max).default(LIMIT.byDefault),
  before: z.string().optional(),
})

keys.post("/", async (c) => {
  const plan = await planNameOf(c.env)
  const keyRequest = z.strictObject({
    account: accountName,
    plan: plan.optional(),
    name: keyName.optional(),
    scopes: keyScopes.default(["admin"]),
    expires_at: keyExpiry.default(null),
  })
  const wanted = await readJson(c, keyRequest)
  const { key, row, account } = await issueKey(c.env, {
    accountName: wanted.account,
    plan: wanted.plan,
    name: wanted.name ?? "",
    scopes: wanted.scopes,
    expiresAt: wanted.expires_at,
  })
  return c.json({ ...viewKey(row), key, account: account.name, plan: account.plan }, 201)
})

keys.get("/", async (c) => {
  const page = parseBody(pageQuery, c.req.query())
  const rows = await listKeys(directoryOf(c.env), page)
  const last = rows.length === page.limit ? rows.at(-1)?.key.id : undefined
  if (last !== undefined) {
    const query = new URLSearchParams({ limit: String(page.limit), before: last })
    c.header("link", `<${publicOrigin(c)}/operator/keys?${query.toString()}>; rel="next"`)
  }
  return c.json(
    rows.map(({ key, account }) => ({
      ...viewKey(key),
      account: account.name,
      plan: account.plan,
    })),
  )
})

keys.post("/:id/rotate", async (c) => {
  const { overlap_seconds: seconds } = await readOptionalJson(c, rotation)
  const id = c.req.param("id")
  const accountId = await findKeyOwner(directoryOf(c.env), id)
  const database = databaseOf(c.env, accountId ?? "")
  const rotated = await rotateKey(c.env, database, { id, overlapMs: seconds * 1000 })
  if (!rotated) throw notFound("key")
  if ("refusal" in rotated) throw notRotatable(rotated.refusal, rotated.before)
  return c.json({ ...viewKey(rotated.row), key: rotated.key }, 201)
})

keys.delete("/:id", async (c) => {
  if (!(await withdrawKey(c.env, c.req.param("id")))) throw notFound("key")
  return c.json({})
})
