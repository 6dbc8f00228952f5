import { Hono } from "hono"
import { z } from "zod"
import {
  parseBody,
  getPublicOrigin,
  readJsonBody,
  readOptionalJsonBody,
} from "../../input/request.ts"
import type { AppEnv } from "../../context.ts"
import {
  keyExpirySchema,
  keyNameSchema,
  keyScopesSchema,
  keyNotRotatableProblem,
  keyRotationOverlapSecondsSchema,
  toApiKeyRecord,
} from "../../output/key-fields.ts"
import { notFoundProblem } from "../../output/problem.ts"
import { createApiKeyForNamedAccount, rotateApiKey, revokeApiKey } from "../../../accounts/keys.ts"
import { openAccountDatabases, openDirectory } from "../../../db/database.ts"
import { findAccountIdOfApiKey, listApiKeysOfAllAccounts } from "../../../db/accounts/keys.ts"
import { accountNameSchema, makePlanNameSchema } from "./fields.ts"

/** Operator routes that create, list, rotate and revoke API keys of all accounts. */
export const keyRoutes = new Hono<AppEnv>()

const LIMIT = { byDefault: 100, max: 1000 }

const rotation = z.strictObject({ overlap_seconds: keyRotationOverlapSecondsSchema })

const pageQuery = z.strictObject({
  limit: z.coerce.number("expected a number").int().min(1).max(LIMIT.max).default(LIMIT.byDefault),
  before: z.string().optional(),
})

keyRoutes.post("/", async (c) => {
  const plan = await makePlanNameSchema(c.env)
  const keyRequest = z.strictObject({
    account: accountNameSchema,
    plan: plan.optional(),
    name: keyNameSchema.optional(),
    scopes: keyScopesSchema.default(["admin"]),
    expires_at: keyExpirySchema.default(null),
  })
  const request = await readJsonBody(c, keyRequest)
  const { key, row, account } = await createApiKeyForNamedAccount(c.env, {
    accountName: request.account,
    plan: request.plan,
    name: request.name ?? "",
    scopes: request.scopes,
    expiresAt: request.expires_at,
  })
  return c.json({ ...toApiKeyRecord(row), key, account: account.name, plan: account.plan }, 201)
})

keyRoutes.get("/", async (c) => {
  const page = parseBody(pageQuery, c.req.query())
  const rows = await listApiKeysOfAllAccounts(openDirectory(c.env), page)
  const last = rows.length === page.limit ? rows.at(-1)?.key.id : undefined
  if (last !== undefined) {
    const query = new URLSearchParams({ limit: String(page.limit), before: last })
    c.header("link", `<${getPublicOrigin(c)}/operator/keys?${query.toString()}>; rel="next"`)
  }
  return c.json(
    rows.map(({ key, account }) => ({
      ...toApiKeyRecord(key),
      account: account.name,
      plan: account.plan,
    })),
  )
})

keyRoutes.post("/:id/rotate", async (c) => {
  const { overlap_seconds: seconds } = await readOptionalJsonBody(c, rotation)
  const id = c.req.param("id")
  const accountId = await findAccountIdOfApiKey(openDirectory(c.env), id)
  const database = openAccountDatabases(c.env, accountId ?? "")
  const rotated = await rotateApiKey(c.env, database, { id, overlapMs: seconds * 1000 })
  if (!rotated) throw notFoundProblem("key")
  if ("refusal" in rotated) throw keyNotRotatableProblem(rotated.refusal, rotated.before)
  return c.json({ ...toApiKeyRecord(rotated.row), key: rotated.key }, 201)
})

keyRoutes.delete("/:id", async (c) => {
  if (!(await revokeApiKey(c.env, c.req.param("id")))) throw notFoundProblem("key")
  return c.json({})
})
