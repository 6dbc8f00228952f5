import { z } from "zod"
import { getSettings } from "../../bindings/env.ts"
import { emptyQuerySchema, defineOperation } from "../output/operation.ts"
import type { Operation } from "../output/operation.ts"
import type { AppContext } from "../context.ts"
import { Problem } from "../output/problem.ts"
import { chooseDatabasesForLists } from "../middleware/replica.ts"
import { formatUtcDay, readAccountUsage } from "../../db/accounts/account-limits.ts"
import { listDailyUsage } from "../../db/accounts/usage.ts"
import {
  accountRecordSchema,
  usageRecordSchema,
  toAccountRecord,
  toUsageRecord,
} from "./account-record.ts"

const TAG = "account"
const DAY_MS = 24 * 3_600_000
const DAYS = { byDefault: 30, max: 366 }
const EXPECTED_DAYS = `expected a whole number from 1 to ${DAYS.max}`
/**
 * Maximum number of rows of the usage list, which has a row for each API key and day: enough for
 * 160 active keys over 30 days.
 */
const ROWS_MAX = 5000

export const accountOperations: Operation[] = [
  defineOperation({
    method: "get",
    path: "/account",
    operationId: "getAccount",
    summary: "Get the account with its plan, limits and usage",
    description:
      "`limits` and `usage` have the same names; a usage is null if its limit has none. `usage.running_jobs` counts jobs that have begun; `limits.running_jobs` is the number of tasks that each pool of runners runs at once for the account, and a job may have several tasks.",
    tag: TAG,
    query: emptyQuerySchema,
    answer: { status: 200, description: "The account.", schema: accountRecordSchema },
    async handle(c) {
      const use = await readAccountUsage(c.get("database"), formatUtcDay(Date.now()))
      if (!use) throw new Problem("invalid_token", "The account no longer exists.")
      const { account } = c.var
      const uploadBodyBytesMax = getSettings(c.env).UPLOAD_BODY_BYTES_MAX ?? null
      const limits = { ...c.var.limits, uploadBodyBytesMax }
      return { body: toAccountRecord(account, limits, { ...use, requests: countRequests(c) }) }
    },
  }),
  defineOperation({
    method: "get",
    path: "/account/usage",
    operationId: "listDailyUsage",
    summary: "List the usage by day (UTC) and key, newest day first",
    description: `The list omits days without usage, and has at most ${ROWS_MAX} rows. \`key_id\` is null for usage of the dashboard, and \`key_name\` is null for a deleted key. A job counts for the key that created it: in \`jobs\` and \`fetches\` on the day of its create, in \`succeeded_jobs\` or \`failed_jobs\` (canceled jobs included) and \`processing_seconds\` on the day of its end.`,
    tag: TAG,
    query: z.object({
      days: z
        .string()
        .regex(/^[1-9]\d{0,2}$/, EXPECTED_DAYS)
        .transform(Number)
        .refine((days) => days <= DAYS.max, EXPECTED_DAYS)
        .default(DAYS.byDefault)
        .meta({
          description: "Number of days, today included.",
          override: { type: "integer", minimum: 1, maximum: DAYS.max, default: DAYS.byDefault },
        }),
    }),
    answer: {
      status: 200,
      description: "The usage of each key on each day.",
      schema: z.array(usageRecordSchema),
    },
    async handle(c, { days }) {
      const since = formatUtcDay(Date.now() - (days - 1) * DAY_MS)
      const { directory } = c.get("database")
      const own = { ...chooseDatabasesForLists(c), directory }
      const usage = await listDailyUsage(own, { since, limit: ROWS_MAX })
      return { body: usage.map(toUsageRecord) }
    },
  }),
]

/** Returns the number of the caller's requests in the current rate limit window. */
function countRequests(c: AppContext): number {
  const { allowance } = c.var
  return allowance ? allowance.limit - allowance.remaining : 0
}
