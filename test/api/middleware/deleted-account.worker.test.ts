import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { Hono } from "hono"
import { expect, test } from "vitest"
import { respondWithError, setRequestId } from "../../../src/api/middleware/error-responses.ts"
import type { AppEnv } from "../../../src/api/context.ts"
import { beginAccountDeletion } from "../../../src/accounts/deletion.ts"
import { findCallerAccount } from "../../../src/db/accounts/accounts.ts"
import { openDirectory } from "../../../src/db/database.ts"
import { makeCaller } from "../../support/caller.ts"

/** Answers a request that fails because its account was changed meanwhile. */
async function failFor(accountId: string, meanwhile: () => Promise<unknown>): Promise<Response> {
  const app = new Hono<AppEnv>()
  app.use(setRequestId)
  app.onError(respondWithError)
  app.get("/", async (c) => {
    const account = await findCallerAccount(openDirectory(c.env), accountId)
    if (account) c.set("account", account)
    await meanwhile()
    throw new Error("the upload does not exist (10024)")
  })
  return await app.request("https://lathe.test/", {}, env, createExecutionContext())
}

test("a request whose account is deleted meanwhile gets a 401, not a 500", async () => {
  await makeCaller("deleted meanwhile")
  const id = await env.DB.prepare("select id from accounts where name = 'deleted meanwhile'").first(
    "id",
  )
  const failed = await failFor(String(id), async () => undefined)
  expect(failed.status).toBe(500)
  const refused = await failFor(String(id), async () => await beginAccountDeletion(env, String(id)))
  expect([refused.status, await refused.json()]).toEqual([
    401,
    expect.objectContaining({ code_name: "invalid_token", message: "The account was deleted." }),
  ])
})
