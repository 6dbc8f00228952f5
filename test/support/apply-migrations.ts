import { applyD1Migrations, reset } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { limitWorker } from "../../scripts/local/d1-limits.ts"
import * as worker from "../../src/index.ts"
import { bindingOf, countDatabases } from "../../src/storage/database.ts"
import { checkPlans } from "./query-plans.ts"

// The files of tests share a process of workerd, which costs more to start than most of them take.
await reset()
limitWorker(worker, env.DB)
for (let database = 1; database <= countDatabases(env); database += 1) {
  await applyD1Migrations(bindingOf(env, database), env.TEST_MIGRATIONS)
}
checkPlans(worker)
