import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { sweepDirectly } from "../support/sweep.ts"
import { makePerson, makeService, newEmail, PASSWORD, tokenOf } from "./sign-in/visitor.ts"
import { makeCaller } from "../support/caller.ts"
import { countAccountRows } from "../support/accounts/account-rows.ts"

const DAY_MS = 24 * 3_600_000

const service = makeService({ SIGN_UP: "open" })

async function signUp(email = newEmail()) {
  const visitor = service.visitor()
  await visitor.submit("/sign-up", { email, password: PASSWORD })
  const link = service.linkTo(email)
  await visitor.submit("/forgot-password", { email })
  const row = await env.DB.prepare("select id, account_id from users where email = ?")
    .bind(email)
    .first<{ id: string; account_id: string }>()
  return { ...visitor, email, link, id: row?.id ?? "", accountId: row?.account_id ?? "" }
}

/** Returns the rows of a user, counted by table. */
async function rowsOf({ id }: { id: string }): Promise<Record<string, unknown>> {
  const counts = Object.entries({
    users: "id",
    sessions: "user_id",
    credentials: "user_id",
    verifications: "value",
  }).map(async ([table, column]) => {
    const count = env.DB.prepare(`select count(*) as n from ${table} where ${column} = ?`)
    return [table, await count.bind(id).first("n")] as const
  })
  return Object.fromEntries(await Promise.all(counts))
}

it("removes users who did not confirm their email in a week, with all their data", async () => {
  const [gone, confirmed] = [await signUp(), await makePerson(service)]
  await env.DB.prepare(
    "insert into sessions (id, user_id, token, expires_at, created_at, updated_at) values (?, ?, ?, ?, ?, ?)",
  )
    .bind("of gone", gone.id, "token of gone", Date.now() + 30 * DAY_MS, Date.now(), Date.now())
    .run()
  await env.DB.prepare("update verifications set expires_at = ? where value = ?")
    .bind(Date.now() + 30 * DAY_MS, gone.id)
    .run()
  await sweepDirectly(env, Date.now() + 6.9 * DAY_MS)
  expect(await rowsOf(gone)).toEqual({ users: 1, sessions: 1, credentials: 1, verifications: 1 })
  await sweepDirectly(env, Date.now() + 7.1 * DAY_MS)
  expect(await rowsOf(gone)).toEqual({ users: 0, sessions: 0, credentials: 0, verifications: 0 })
  expect(await countAccountRows(gone.accountId)).toEqual({})
  expect(await confirmed.isSignedIn()).toBe(true)
  expect(await (await gone.visit(gone.link)).text()).toContain("The link is used")
  const reset = { token: tokenOf(service.linkTo(gone.email)), password: PASSWORD }
  expect((await gone.submit("/reset-password", reset)).status).toBe(422)
  const again = await signUp(gone.email)
  expect((await again.confirm(again.link)).status).toBe(303)
})

it("keeps the account of such a user if it has a key, which stays valid", async () => {
  const gone = await signUp()
  const caller = await makeCaller(gone.email)
  await sweepDirectly(env, Date.now() + 8 * DAY_MS)
  expect(await rowsOf(gone)).toMatchObject({ users: 0 })
  expect((await caller.call("/files")).status).toBe(200)
})

it("removes many of them, some at a time", async () => {
  const emails = Array.from({ length: 70 }, () => newEmail())
  const at = Date.now() - 8 * DAY_MS
  await env.DB.batch(
    emails.flatMap((email) => [
      env.DB.prepare(
        "insert into accounts (id, name, plan, webhook_secret, created_at) values (?, ?, 'trial', ?, ?)",
      ).bind(`account of ${email}`, email, `whsec_${email}`, at),
      env.DB.prepare(
        "insert into users (id, account_id, name, email, email_verified, is_operator, created_at, updated_at) values (?, ?, ?, ?, 0, 0, ?, ?)",
      ).bind(`user ${email}`, `account of ${email}`, email, email, at, at),
    ]),
  )
  const left = env.DB.prepare("select count(*) as n from users where created_at = ?").bind(at)
  await sweepDirectly(env, Date.now())
  expect(await left.first("n")).toBe(20)
  await sweepDirectly(env, Date.now())
  expect(await left.first("n")).toBe(0)
})
