import { Hono } from "hono"
import type { App } from "../../http/context.ts"
import { openDatabase } from "../../storage/database.ts"
import { listAccountsWithOpenJobs } from "../../storage/jobs.ts"

export const health = new Hono<App>()

/** Once the tables are there they stay; until then callers would only get errors. */
const seen = { tables: false }

health.get("/", async (c) => {
  try {
    if (!seen.tables) await listAccountsWithOpenJobs(openDatabase(c.env.DB))
    seen.tables = true
    return c.json({ status: "ok" })
  } catch {
    return c.json({ status: "starting" }, 503, { "retry-after": "1" })
  }
})
