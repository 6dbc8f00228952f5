import { z } from "zod"
import { NO_QUERY, operation } from "../../http/operation.ts"
import type { Operation } from "../../http/operation.ts"
import { Problem } from "../../http/problem.ts"
import { databasesOf } from "../../storage/database.ts"
import { listAccountsWithOpenJobs } from "../../storage/jobs.ts"

/** Once the tables are there they stay; until then callers would only get errors. */
const seen = { tables: false }

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
      description: "It serves.",
      schema: z.object({ status: z.string() }).meta({ id: "Health" }),
    },
    errors: ["overloaded"],
    async handle(c) {
      try {
        if (!seen.tables) await Promise.all(databasesOf(c.env).map(listAccountsWithOpenJobs))
        seen.tables = true
        return { body: { status: "ok" } }
      } catch (error) {
        const headers = { "retry-after": "1" }
        throw new Problem("overloaded", "The service is starting.", { headers, cause: error })
      }
    },
  }),
]
