import { Hono } from "hono"
import { z } from "zod"
import { notFoundProblem } from "../../output/problem.ts"
import { parseBody } from "../../input/request.ts"
import type { AppEnv, AppContext } from "../../context.ts"
import { toDateTime } from "../../../kinds/shared-record-fields.ts"
import { beginAccountDeletion } from "../../../accounts/deletion.ts"
import { resumeAccount, suspendAccount } from "../../../accounts/suspension.ts"
import { findAccount, listAccounts } from "../../../db/accounts/account-list.ts"
import type { AccountOverview } from "../../../db/accounts/account-list.ts"
import { accountNameSchema } from "./fields.ts"

/** Operator routes that list, suspend, resume and delete accounts. */
export const accountRoutes = new Hono<AppEnv>()

const LIMIT_MAX = 100

const listQuery = z.strictObject({
  limit: z.coerce.number("expected a number").int().min(1).max(LIMIT_MAX).default(50),
  before: z.string().optional(),
  search: z.string().max(200).optional(),
  name: accountNameSchema.optional(),
})

accountRoutes.get("/", async (c) => {
  const page = parseBody(listQuery, c.req.query())
  const accounts = await listAccounts(c.env, page, Date.now())
  const last = accounts.length === page.limit ? accounts.at(-1) : undefined
  return c.json({ accounts: accounts.map(viewAccount), next_before: last?.id ?? null })
})

accountRoutes.get("/:id", async (c) => c.json(await find(c)))

accountRoutes.post("/:id/suspend", async (c) => {
  if (!(await suspendAccount(c.env, c.req.param("id")))) throw notFoundProblem("account")
  return c.json(await find(c))
})

accountRoutes.post("/:id/resume", async (c) => {
  if (!(await resumeAccount(c.env, c.req.param("id")))) throw notFoundProblem("account")
  return c.json(await find(c))
})

accountRoutes.delete("/:id", async (c) => {
  if (!(await beginAccountDeletion(c.env, c.req.param("id")))) throw notFoundProblem("account")
  return c.json({})
})

async function find(c: AppContext) {
  const id = c.req.param("id") ?? ""
  const account = await findAccount(c.env, id, Date.now())
  if (!account) throw notFoundProblem("account")
  return viewAccount(account)
}

function viewAccount(account: AccountOverview) {
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
