import { Hono } from "hono"
import { createMiddleware } from "hono/factory"
import { findSignedIn } from "../../auth/session.ts"
import { settingsOf } from "../../env.ts"
import { authenticateOperator } from "../../http/auth.ts"
import { guardMethods } from "../../http/methods.ts"
import { notFound } from "../../http/problem.ts"
import { publicOrigin } from "../../http/request.ts"
import type { App } from "../../http/request.ts"
import { counted } from "../../metrics.ts"
import { readServiceState } from "../../pipeline/upkeep/service-state.ts"
import { gaugesOf } from "./gauges.ts"

/** The bearer of the operator's token, and an operator who is signed in. */
const requireOperator = createMiddleware<App>(async (c, next) => {
  const signedIn = await findSignedIn(c.env, publicOrigin(c), c.req.raw.headers)
  if (signedIn?.user.isOperator && !signedIn.account.isSuspended) return await next()
  return await authenticateOperator(c, next)
})

/** Only where one process counts: on Cloudflare Analytics Engine has what each isolate counted. */
const requireOneMachine = createMiddleware<App>(async (c, next) => {
  if (settingsOf(c.env).RUNNER_ORIGIN === undefined) throw notFound("page")
  await next()
})

/** What was counted on this machine, and how the service is, in the text format of Prometheus. */
export const metrics = new Hono<App>()

metrics.get("/", requireOneMachine, requireOperator, async (c) => {
  const gauges = gaugesOf(await readServiceState(c.env), Date.now())
  const text = `${await counted.metrics()}\n${await gauges.metrics()}`
  return c.body(text, 200, { "content-type": counted.contentType })
})

guardMethods(metrics)
