import { Hono } from "hono"
import { makeDashboard } from "./dashboard/dashboard.ts"
import { errorPages } from "./dashboard/errors/pages.tsx"
import { answerUnknownPath } from "./dashboard/problem-page.tsx"
import { answerError, nameRequest } from "./http/answers.ts"
import { authenticate } from "./http/auth.ts"
import { allowOrigins } from "./http/cors.ts"
import { logRequest } from "./http/request-log.ts"
import type { App } from "./http/request.ts"
import { mountOperations } from "./http/operation.ts"
import { receiveReport } from "./pipeline/settle/settle.ts"
import { docs } from "./resources/docs/pages.ts"
import { media, published } from "./resources/media/routes.ts"
import { metrics } from "./resources/metrics/routes.ts"
import { OPERATIONS } from "./operations.ts"
import { operator } from "./resources/operator/routes.ts"
import { makeIo } from "./runner/io.ts"

const v1 = new Hono<App>()
v1.use(allowOrigins)
mountOperations(
  v1,
  OPERATIONS.filter(({ isOpen }) => isOpen),
)
v1.use("*", authenticate)
mountOperations(
  v1,
  OPERATIONS.filter(({ isOpen }) => !isOpen),
)

/** Everything that answers HTTP: the interface, its pages, download links, the operator, runners. */
export const app = new Hono<App>()

app.use(logRequest)
app.use(nameRequest)
app.onError(answerError)
const PATHS = [...new Set(OPERATIONS.map(({ path }) => path))]
app.notFound((c) => answerUnknownPath(c, PATHS))
app.route("/v1", v1)
app.route("/docs", docs)
app.route("/docs/errors/", errorPages)
app.route("/media", media)
app.route("/public", published)
app.route("/operator", operator)
app.route("/metrics", metrics)
app.route("/io", makeIo(receiveReport))
app.route(
  "/",
  makeDashboard((c) => async (request) => await app.fetch(request, c.env, c.executionCtx), PATHS),
)
