import { Hono } from "hono"
import { z } from "zod"
import { notFound } from "../../http/problem.ts"
import { parseBody } from "../../http/request.ts"
import type { App, AppContext } from "../../http/request.ts"
import { toDateTime } from "../../kinds/record-fields.ts"
import { deleteAccount } from "../../pipeline/accounts/deletion.ts"
import { resumeAccount, suspendAccount } from "../../pipeline/accounts/suspension.ts"
import { findAccount, listAccounts } from "../../storage/account-list.ts"
import type { AccountFacts } from "../../storage/account-list.ts"
import { accountName } from "./fields.ts"

/** The operator's routes to accounts. */
export const accounts = new Hono<App>()

const LIMIT_MAX = 100

const listQuery = z.strictObject({
  limit: z.coerce.number("expected a number").int().min(1).max(LIMIT_MAX).default(50),
  before: z.string().optional(),
  search: z.string().max(200).optional(),
  name: accountName.optional(),
})

accounts.get("/", async (c) => {
  const page = parseBody(listQuery, c.req.query())
  const found = await listAccounts(c.env, page, Date.now())
  const last = found.length === page.limit ? found.at(-1) : undefined
  return c.json({ accounts: found.map(viewAccount), next_before: last?.id ?? null })
})

accounts.get("/:id", async (c) => c.json(await find(c)))

accounts.post("/:id/suspend", async (c) => {
  if (!(await suspendAccount(c.env, c.req.param("id")))) throw notFound("account")
  return c.json(await find(c))
})

accounts.post("/:id/resume", async (c) => {
  if (!(await resumeAccount(c.env, c.req.param("id")))) throw notFound("account")
  return c.json(await find(c))
})

accounts.delete("/:id", async (c) => {
  if (!(await deleteAccount(c.env, c.req.param("id")))) throw notFound("account")
  return c.json({})
})

async function find(c: AppContext) {
  const id = c.req.param("id") ?? ""
  const account = await findAccount(c.env, id, Date.now())
  if (!account) throw notFound("account")
  return viewAccount(account)
}

function viewAccount(account: AccountFacts) {
  const { id, name, plan, createdAt, suspendedAt, users, database } = account
  return {
    id,
    name,
    plan,
    created_at: toDateTime(createdAt),
    suspended_at: toDateTime(suspendedAt),
    database,
    users: users.map(({ email, isOperator }) => ({ email, is_operator: isOperator })),
    keys: account.keyCount,
    storage_bytes: account.storageBytes,
    waiting_jobs: account.waitingJobs,
    running_jobs: account.runningJobs,
    jobs_today: account.jobsToday,
  }
}
