import { z } from "zod"
import { DEGRADED_REASONS } from "../../contract/runner-health.ts"
import type { DegradedReason } from "../../contract/runner-health.ts"
import { NO_QUERY, operation } from "../../http/operation.ts"
import type { Operation } from "../../http/operation.ts"
import { Problem } from "../../http/problem.ts"
import { findDegradedReasons } from "../../pipeline/upkeep/health.ts"
import { databasesOf } from "../../storage/database.ts"
import type { Database } from "../../storage/database.ts"
import { listAccountsWithOpenJobs } from "../../storage/jobs.ts"

/** Once the tables are there they stay; until then callers would only get errors. */
const seen = { tables: false }

const health = z
  .object({
    status: z.enum(["ok", "degraded"]),
    reasons: z.array(z.enum(DEGRADED_REASONS)).optional(),
  })
  .meta({ id: "Health" })

export const healthOperations: Operation[] = [
  operation({
    method: "get",
    path: "/health",
    operationId: "getHealth",
    summary: "Say whether the service serves",
    tag: "health",
    isOpen: true,
    query: NO_QUERY,
    answer: {
      status: 200,
      description:
        "It serves. `degraded`: requests are taken, and jobs may wait for what `reasons` names.",
      schema: health,
    },
    errors: ["overloaded"],
    async handle(c) {
      try {
        if (!seen.tables) await Promise.all(databasesOf(c.env).map(readSome))
        seen.tables = true
        const reasons = await findDegradedReasons(c.env)
        return { body: describe(reasons) }
      } catch (error) {
        const headers = { "retry-after": "1" }
        throw new Problem("overloaded", "The service is starting.", { headers, cause: error })
      }
    },
  }),
]

async function readSome(database: Database): Promise<void> {
  await listAccountsWithOpenJobs(database, { after: "", limit: 1 })
}

function describe(reasons: DegradedReason[]): z.infer<typeof health> {
  return reasons.length > 0 ? { status: "degraded", reasons } : { status: "ok" }
}
