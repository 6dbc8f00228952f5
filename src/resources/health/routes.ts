import { Hono } from "hono"
import type { App } from "../../http/context.ts"

export const health = new Hono<App>()

health.get("/", (c) => c.json({ status: "ok" }))
