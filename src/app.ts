import { Hono } from "hono"
import { makeDashboard } from "./dashboard/dashboard.ts"
import { respondToUnknownPath } from "./dashboard/problem-page.tsx"
import { respondWithError, setRequestId } from "./api/middleware/error-responses.ts"
import { authenticate } from "./api/middleware/auth.ts"
import { allowConfiguredOrigins } from "./api/middleware/cors.ts"
import { logRequest } from "./api/middleware/request-log.ts"
import { overrideTusMethod } from "./api/middleware/tus-method.ts"
import type { AppEnv } from "./api/context.ts"
import { mountOperations } from "./api/output/operation.ts"
import { handleRunnerReport } from "./jobs/settle/settle.ts"
import { docsRoutes } from "./api/routes/docs.ts"
import { signedLinkRoutes, publishedFileRoutes } from "./api/routes/media/routes.ts"
import { metricsRoutes } from "./api/routes/metrics.ts"
import { OPERATIONS } from "./api/routes/operations.ts"
import { operatorRoutes } from "./api/routes/operator/routes.ts"
import { uploadLinkRoutes } from "./api/routes/uploads/link-routes.ts"
import { sendTusHeaders } from "./api/routes/uploads/tus-headers.ts"
import { makeIoRoutes } from "./runner/io.ts"

const v1 = new Hono<AppEnv>()
v1.use(allowConfiguredOrigins)
v1.use("/uploads", sendTusHeaders)
v1.use("/uploads/:id{[0-9A-Fa-f-]{36}}", sendTusHeaders)
mountOperations(
  v1,
  OPERATIONS.filter(({ isOpen }) => isOpen),
)
v1.use("*", authenticate)
mountOperations(
  v1,
  OPERATIONS.filter(({ isOpen }) => !isOpen),
)

/**
 * HTTP routes of the service: API, documentation, dashboard, downloads, operator routes and runner
 * routes.
 */
export const app = new Hono<AppEnv>()

app.use("/v1/uploads/:id{[0-9A-Fa-f-]{36}}", overrideTusMethod(app))
app.use("/uploads/:database/:secret/:id", overrideTusMethod(app))
app.use(logRequest)
app.use(setRequestId)
app.onError(respondWithError)
const PATHS = [...new Set(OPERATIONS.map(({ path }) => path))]
app.notFound((c) => respondToUnknownPath(c, PATHS))
app.route("/v1", v1)
app.route("/docs", docsRoutes)
app.get("/llms.txt", (c) => c.redirect("/docs/llms.txt"))
app.route("/media", signedLinkRoutes)
app.route("/public", publishedFileRoutes)
app.route("/uploads", uploadLinkRoutes)
app.route("/operator", operatorRoutes)
app.route("/metrics", metricsRoutes)
app.route("/io", makeIoRoutes(handleRunnerReport))
app.route(
  "/",
  makeDashboard((c) => async (request) => await app.fetch(request, c.env, c.executionCtx), PATHS),
)
