import { z } from "zod"
import { settingsOf } from "../../env.ts"
import { NO_QUERY, operation } from "../../http/operation.ts"
import type { Operation } from "../../http/operation.ts"
import type { AppContext } from "../../http/request.ts"
import { Problem } from "../../http/problem.ts"
import { listDatabase } from "../../http/replica.ts"
import { dayOf, readAccountUse } from "../../storage/account-limits.ts"
import { listUsage } from "../../storage/usage.ts"
import { accountRecord, usageRecord, viewAccount, viewUsage } from "./record.ts"

const TAG = "account"
const DAY_MS = 24 * 3_600_000
const DAYS = { byDefault: 30, max: 366 }
const EXPECTED_DAYS = `expected a whole number from 1 to ${DAYS.max}`
/** More than a hundred keys in use on each of the usual days. */
const ROWS_MAX = 5000

/** The operations of the caller's account: what it may, and what it uses. */
export const accountOperations: Operation[] = [
  operation({
    method: "get",
    path: "/account",
    operationId: "getAccount",
    summary: "Get the account with its plan, the limits of that, and what is used of them",
    description:
      "`limits` and `usage` have the same names; null where nothing is used up. `usage.running_jobs` counts jobs that have begun, and a job may have several tasks: `limits.running_jobs` is how many tasks each pool of runners does at once.",
    tag: TAG,
    query: NO_QUERY,
    answer: { status: 200, description: "The account.", schema: accountRecord },
    async handle(c) {
      const use = await readAccountUse(c.get("database"), dayOf(Date.now()))
      if (!use) throw new Problem("invalid_token", "The account is no longer there.")
      const { account } = c.var
      const uploadBodyBytesMax = settingsOf(c.env).UPLOAD_BODY_BYTES_MAX ?? null
      const limits = { ...c.var.limits, uploadBodyBytesMax }
      return { body: viewAccount(account, limits, { ...use, requests: requestsOf(c) }) }
    },
  }),
  operation({
    method: "get",
    path: "/account/usage",
    operationId: "listUsage",
    summary: "List what was used, by day (UTC) and key, the newest day first",
    description: `Days without use are left out, and what is more than ${ROWS_MAX} days of keys. \`key_id\` is null for what was done in the dashboard, \`key_name\` where there is no such key any more. A job counts with the key that created it: in \`jobs\` and \`fetches\` on the day when it was accepted, in \`succeeded_jobs\` or \`failed_jobs\` (canceled ones, too) and \`processing_seconds\` on that of its end.`,
    tag: TAG,
    query: z.object({
      days: z
        .string()
        .regex(/^[1-9]\d{0,2}$/, EXPECTED_DAYS)
        .transform(Number)
        .refine((days) => days <= DAYS.max, EXPECTED_DAYS)
        .default(DAYS.byDefault)
        .meta({
          description: "Days to look back on, today included.",
          override: { type: "integer", minimum: 1, maximum: DAYS.max, default: DAYS.byDefault },
        }),
    }),
    answer: {
      status: 200,
      description: "What each key used on each day.",
      schema: z.array(usageRecord),
    },
    async handle(c, { days }) {
      const since = dayOf(Date.now() - (days - 1) * DAY_MS)
      const { directory } = c.get("database")
      const own = { ...listDatabase(c), directory }
      const used = await listUsage(own, { since, limit: ROWS_MAX })
      return { body: used.map(viewUsage) }
    },
  }),
]

/** Requests that the caller has made in this minute. */
function requestsOf(c: AppContext): number {
  const { allowance } = c.var
  return allowance ? allowance.limit - allowance.remaining : 0
}
