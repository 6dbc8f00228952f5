import { applyD1Migrations, reset } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { applyD1Limits } from "../../../scripts/start/worker/d1-limits.ts"
import * as worker from "../../../src/index.ts"
import { getDatabaseBinding, countDatabases } from "../../../src/db/database.ts"
import { checkQueryPlans } from "./query-plans.ts"

// Deletes the data of earlier test files, which use the same workerd process. Its start takes
// longer than most test files, so that not every file starts one.
await reset()
applyD1Limits(worker, env.DB)
for (let database = 1; database <= countDatabases(env); database += 1) {
  await applyD1Migrations(getDatabaseBinding(env, database), env.TEST_MIGRATIONS)
}
checkQueryPlans(worker)
