import { Hono } from "hono"
import type { MiddlewareHandler } from "hono"
import { except } from "hono/combine"
import { createMiddleware } from "hono/factory"
import { csrf } from "hono/csrf"
import { serveAuthRoute } from "../accounts/sign-in/serve-auth-route.ts"
import { AUTH_PATH } from "../accounts/sign-in/auth.ts"
import { AUTH_ROUTES } from "../accounts/sign-in/limits.ts"
import { findSignedInUser } from "../accounts/sign-in/signed-in-user.ts"
import { respondNotFound } from "../api/middleware/error-responses.ts"
import { findNearestPath } from "../hints/paths.ts"
import { readBodyAsBlob } from "../api/input/body.ts"
import { Problem } from "../api/output/problem.ts"
import { getPublicOrigin } from "../api/input/request.ts"
import type { AppEnv, AppContext } from "../api/context.ts"
import { makeApiClient } from "./api.ts"
import type { SendRequestToApp } from "./api.ts"
import { assetRoutes } from "./assets.ts"
import type { PageEnv } from "./context.ts"
import { setDashboardSecurityHeaders } from "./security-headers.ts"
import { batchPages } from "./pages/batches.tsx"
import { filePages } from "./pages/files.tsx"
import { jobPages } from "./pages/jobs.tsx"
import { keyPages } from "./pages/keys.tsx"
import { operatorAccountPages } from "./pages/operate-accounts.tsx"
import { operatorDeadLetterPages } from "./pages/operate-dead-letters.tsx"
import { operatorHealthPage } from "./pages/operate-health.tsx"
import { operatorPlanPages } from "./pages/operate-plans.tsx"
import { overviewPage } from "./pages/overview.tsx"
import { playgroundPage } from "./pages/playground.tsx"
import { settingsPages } from "./pages/settings.tsx"
import { usagePages } from "./pages/usage.tsx"
import { webhookPages } from "./pages/webhooks.tsx"
import { endpointPages } from "./pages/webhooks/endpoints.tsx"
import { respondWithErrorPage } from "./problem-page.tsx"
import { requireFormContentType } from "./read-form.ts"
import { confirmationRoutes } from "./sign-in/confirmations.tsx"
import { passwordResetRoutes } from "./sign-in/forgotten-passwords.tsx"
import { signInRoutes } from "./sign-in/sign-in.tsx"
import { signUpRoutes } from "./sign-in/sign-up.tsx"

/**
 * Function that creates a sender of API requests. `c` is the context of the page request during
 * which the API requests are sent.
 */
type Sender = (c: Pick<AppContext, "env" | "executionCtx">) => SendRequestToApp

/** Pages that require a signed-in user. */
const PAGES: readonly Hono<PageEnv>[] = [
  overviewPage,
  playgroundPage,
  jobPages,
  batchPages,
  filePages,
  webhookPages,
  endpointPages,
  keyPages,
  usagePages,
  operatorAccountPages,
  operatorPlanPages,
  operatorHealthPage,
  operatorDeadLetterPages,
  settingsPages,
]

/**
 * Creates the routes of the dashboard: pages, assets, and sign-in. `templates` are the path
 * templates of the API, by which the dashboard recognizes an API request that omits /v1.
 */
export function makeDashboard(send: Sender, templates: readonly string[]): Hono<AppEnv> {
  const dashboard = new Hono<AppEnv>()
  dashboard.use(turnAway(templates))
  for (const { method, path } of AUTH_ROUTES) {
    dashboard.on(method, AUTH_PATH + path, smallBody, async (c) => {
      return (await serveAuthRoute(c.env, getPublicOrigin(c), c.req.raw)) ?? (await c.notFound())
    })
  }
  dashboard.route("/assets", assetRoutes)
  dashboard.route(
    "/",
    guarded(signInPages, [
      setDashboardSecurityHeaders,
      sameOrigin,
      requireFormContentType,
      smallBody,
    ]),
  )
  const signedIn = requireSignedIn(send)
  const guards = [
    setDashboardSecurityHeaders,
    sameOrigin,
    requireFormContentType,
    formBody,
    signedIn,
  ]
  for (const pages of PAGES) dashboard.route("/", guarded(pages, guards))
  return dashboard
}

/**
 * Returns middleware for API requests that omit /v1: a request with an API key gets an error that
 * suggests the correct API path. Pages accept no API keys.
 */
function turnAway(templates: readonly string[]): MiddlewareHandler<AppEnv> {
  return createMiddleware<AppEnv>(async (c, next) => {
    const { headers } = c.req.raw
    const hasKey = headers.has("x-api-key") || /^Bearer /i.test(headers.get("authorization") ?? "")
    if (!hasKey || findNearestPath(c.req.path, templates) === null) return await next()
    return respondNotFound(c, templates)
  })
}

/** Mounts pages behind middleware that runs only for the paths of these pages. */
function guarded<Context extends AppEnv>(
  pages: Hono<Context>,
  guards: MiddlewareHandler<Context>[],
): Hono<Context> {
  const all = new Hono<Context>()
  for (const path of new Set(pages.routes.map((route) => route.path))) all.use(path, ...guards)
  all.route("/", pages)
  all.onError(respondWithErrorPage)
  return all
}

const sameOrigin = csrf({ origin: (origin, c) => origin === getPublicOrigin(c) })

const UPLOAD_PATH = "/files"

/**
 * Middleware for forms with only a few fields, which limits the size of the body. The form that
 * uploads a file has the limit of the plan instead.
 */
const smallBody = boundBody(8 * 1024)
const formBody = except(UPLOAD_PATH, smallBody)

/** Returns middleware that reads a form's body with a size and time limit before the page runs. */
function boundBody(bytesMax: number): MiddlewareHandler<AppEnv> {
  function tooLarge(): Problem {
    return new Problem("payload_too_large", `A form may have ${bytesMax} bytes here.`)
  }
  return createMiddleware<AppEnv>(async (c, next) => {
    const { method, body } = c.req.raw
    if (body && method !== "GET" && method !== "HEAD") {
      const read = await readBodyAsBlob(c, { bytesMax, tooLarge })
      c.req.raw = new Request(c.req.raw, { method, body: await read.bytes() })
    }
    await next()
  })
}

/**
 * Returns middleware that redirects requests without a session to the sign-in page. After the
 * sign-in, the user returns to the requested page.
 */
function requireSignedIn(send: Sender) {
  return createMiddleware<PageEnv>(async (c, next) => {
    const origin = getPublicOrigin(c)
    const signedIn = await findSignedInUser(c.env, origin, c.req.raw.headers)
    if (!signedIn) {
      const { pathname, search } = new URL(c.req.url)
      return c.redirect(`/sign-in?next=${encodeURIComponent(pathname + search)}`, 303)
    }
    c.set("signedIn", signedIn)
    c.set("account", signedIn.account)
    c.set("api", makeApiClient(send(c), origin, signedIn))
    return await next()
  })
}

/** Pages that require no signed-in user. */
const signInPages = new Hono<AppEnv>()

signInPages.route("/", signInRoutes)
signInPages.route("/", signUpRoutes)
signInPages.route("/", confirmationRoutes)
signInPages.route("/", passwordResetRoutes)
