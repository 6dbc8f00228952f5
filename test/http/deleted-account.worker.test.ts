import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { Hono } from "hono"
import { expect, test } from "vitest"
import { answerError, nameRequest } from "../../src/http/answers.ts"
import type { App } from "../../src/http/request.ts"
import { deleteAccount } from "../../src/pipeline/accounts/deletion.ts"
import { findHolder } from "../../src/storage/accounts.ts"
import { directoryOf } from "../../src/storage/database.ts"
import { makeCaller } from "../support/caller.ts"

/** A request of an account, of which something is gone that it works on. */
async function failFor(accountId: string, meanwhile: () => Promise<unknown>): Promise<Response> {
  const app = new Hono<App>()
  app.use(nameRequest)
  app.onError(answerError)
  app.get("/", async (c) => {
    const account = await findHolder(directoryOf(c.env), accountId)
    if (account) c.set("account", account)
    await meanwhile()
    throw new Error("the upload does not exist (10024)")
  })
  return await app.request("https://lathe.test/", {}, env, createExecutionContext())
}

test("a request whose account is deleted meanwhile is refused, and has not failed", async () => {
  await makeCaller("deleted meanwhile")
  const id = await env.DB.prepare("select id from accounts where name = 'deleted meanwhile'").first(
    "id",
  )
  const failed = await failFor(String(id), async () => undefined)
  expect(failed.status).toBe(500)
  const refused = await failFor(String(id), async () => await deleteAccount(env, String(id)))
  expect([refused.status, await refused.json()]).toEqual([
    401,
    expect.objectContaining({ code_name: "invalid_token", message: "The account was deleted." }),
  ])
})
