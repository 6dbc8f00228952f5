import { Hono } from "hono"
import { z } from "zod"
import { authenticate, authenticateOperator } from "./http/auth.ts"
import type { App } from "./http/context.ts"
import { guardMethods } from "./http/methods.ts"
import { answerError, answerNotFound, nameRequest } from "./http/outcome.ts"
import { readJson } from "./http/body.ts"
import { handleReport } from "./pipeline/reports.ts"
import { commands } from "./resources/commands/routes.ts"
import { files } from "./resources/files/routes.ts"
import { health } from "./resources/health/routes.ts"
import { jobs } from "./resources/jobs/routes.ts"
import { keys } from "./resources/keys/routes.ts"
import { media } from "./resources/media/routes.ts"
import { webhooks } from "./resources/webhooks/routes.ts"
import { handleIo } from "./runner/io.ts"

/** Everything that answers HTTP: the interface, download links, the operator's and runners' doors. */
export const app = new Hono<App>()

app.use(nameRequest)
app.onError(answerError)
app.notFound(answerNotFound)

app.route("/v1/health", health)
app.use("/v1/*", authenticate)
app.route("/v1/commands", commands)
app.route("/v1/files", files)
app.route("/v1/jobs", jobs)
app.route("/v1/webhooks", webhooks)

app.route("/media", media)

app.use("/operator/*", authenticateOperator)
app.route("/operator/keys", keys)
app.post("/operator/runner-up", async (c) => {
  const { boot } = await readJson(c, z.object({ boot: z.string() }))
  await c.env.POOL.getByName("media").runnerUp(boot)
  return c.json({})
})

app.all("/io/*", (c) => handleIo(c.req.raw, c.env, handleReport))

guardMethods(app)
