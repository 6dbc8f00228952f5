import { applyD1Migrations } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { limitWorker } from "../../scripts/local/d1-limits.ts"
import * as worker from "../../src/index.ts"
import { checkPlans } from "./query-plans.ts"

limitWorker(worker, env.DB)
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS)
checkPlans(worker)
