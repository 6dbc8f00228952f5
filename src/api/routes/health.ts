import { z } from "zod"
import { DEGRADED_REASONS } from "../../contract/runner-health.ts"
import type { DegradedReason } from "../../contract/runner-health.ts"
import { emptyQuerySchema, defineOperation } from "../output/operation.ts"
import type { Operation } from "../output/operation.ts"
import { Problem } from "../output/problem.ts"
import { findServiceDegradedReasons } from "../../upkeep/health.ts"
import { openAllDatabases } from "../../db/database.ts"
import type { Database } from "../../db/database.ts"
import { listAccountsWithOpenJobs } from "../../db/jobs/jobs.ts"

/**
 * Cached result of the check that the tables of all databases exist. Until they exist, GET /health
 * returns 503.
 */
const healthCache = { tables: false }

const health = z
  .object({
    status: z.enum(["ok", "degraded"]),
    reasons: z.array(z.enum(DEGRADED_REASONS)).optional(),
  })
  .meta({ id: "Health" })

export const healthOperations: Operation[] = [
  defineOperation({
    method: "get",
    path: "/health",
    operationId: "getHealth",
    summary: "Get the health of the service",
    tag: "health",
    isOpen: true,
    query: emptyQuerySchema,
    answer: {
      status: 200,
      description:
        "The service answers. `degraded`: the service accepts requests, and jobs may wait because of `reasons`.",
      schema: health,
    },
    errors: ["overloaded"],
    async handle(c) {
      try {
        if (!healthCache.tables) await Promise.all(openAllDatabases(c.env).map(probeDatabase))
        healthCache.tables = true
        const reasons = await findServiceDegradedReasons(c.env)
        return { body: toHealthRecord(reasons) }
      } catch (error) {
        const headers = { "retry-after": "1" }
        throw new Problem("overloaded", "The service is starting.", { headers, cause: error })
      }
    },
  }),
]

async function probeDatabase(database: Database): Promise<void> {
  await listAccountsWithOpenJobs(database, { after: "", limit: 1 })
}

function toHealthRecord(reasons: DegradedReason[]): z.infer<typeof health> {
  return reasons.length > 0 ? { status: "degraded", reasons } : { status: "ok" }
}
