import { Hono } from "hono"
import type { MiddlewareHandler } from "hono"
import { except } from "hono/combine"
import { createMiddleware } from "hono/factory"
import { csrf } from "hono/csrf"
import { answerAuth } from "../auth/answer.ts"
import { AUTH_PATH } from "../auth/auth.ts"
import { AUTH_ROUTES } from "../auth/limits.ts"
import { findSignedIn } from "../auth/session.ts"
import { answerNotFound } from "../http/answers.ts"
import { nearPath } from "../hints/paths.ts"
import { readWhole } from "../http/body.ts"
import { Problem } from "../http/problem.ts"
import { publicOrigin } from "../http/request.ts"
import type { App, AppContext } from "../http/request.ts"
import { apiOf } from "./api.ts"
import type { Send } from "./api.ts"
import { assets } from "./assets.ts"
import type { Pages } from "./context.ts"
import { hardened } from "./hardened.ts"
import { files } from "./pages/files.tsx"
import { jobs } from "./pages/jobs.tsx"
import { keyPages } from "./pages/keys.tsx"
import { operateAccounts } from "./pages/operate-accounts.tsx"
import { operateDeadLetters } from "./pages/operate-dead-letters.tsx"
import { operateHealth } from "./pages/operate-health.tsx"
import { operatePlans } from "./pages/operate-plans.tsx"
import { overview } from "./pages/overview.tsx"
import { playground } from "./pages/playground.tsx"
import { settingsPages } from "./pages/settings.tsx"
import { usagePages } from "./pages/usage.tsx"
import { webhookPages } from "./pages/webhooks.tsx"
import { answerPageError } from "./problem-page.tsx"
import { requireForm } from "./read-form.ts"
import { signInPages } from "./sign-in/pages.tsx"

/** Makes what sends requests to the service itself, in the course of a request. */
type Sender = (c: Pick<AppContext, "env" | "executionCtx">) => Send

/** The pages of who is signed in. */
const PAGES: readonly Hono<Pages>[] = [
  overview,
  playground,
  jobs,
  files,
  webhookPages,
  keyPages,
  usagePages,
  operateAccounts,
  operatePlans,
  operateHealth,
  operateDeadLetters,
  settingsPages,
]

/**
 * The dashboard, at the root: pages for people, what they load, and the routes of their sign-in.
 * `templates` are paths of the interface, which a program may mean that leaves /v1 out.
 */
export function makeDashboard(send: Sender, templates: readonly string[]): Hono<App> {
  const dashboard = new Hono<App>()
  dashboard.use(turnAway(templates))
  for (const { method, path } of AUTH_ROUTES) {
    dashboard.on(method, AUTH_PATH + path, smallBody, async (c) => {
      return (await answerAuth(c.env, publicOrigin(c), c.req.raw)) ?? (await c.notFound())
    })
  }
  dashboard.route("/assets", assets)
  dashboard.route("/", guarded(signInPages, [hardened, sameOrigin, requireForm, smallBody]))
  const signedIn = requireSignedIn(send)
  const guards = [hardened, sameOrigin, requireForm, formBody, signedIn]
  for (const pages of PAGES) dashboard.route("/", guarded(pages, guards))
  return dashboard
}

/** Tells a program with a key, which no page takes, the path of the interface that it meant. */
function turnAway(templates: readonly string[]): MiddlewareHandler<App> {
  return createMiddleware<App>(async (c, next) => {
    const { headers } = c.req.raw
    const hasKey = headers.has("x-api-key") || /^Bearer /i.test(headers.get("authorization") ?? "")
    if (!hasKey || nearPath(c.req.path, templates) === null) return await next()
    return answerNotFound(c, templates)
  })
}

/** Pages behind what each of them needs, and no other path. */
function guarded<Context extends App>(
  pages: Hono<Context>,
  guards: MiddlewareHandler<Context>[],
): Hono<Context> {
  const all = new Hono<Context>()
  for (const path of new Set(pages.routes.map((route) => route.path))) all.use(path, ...guards)
  all.route("/", pages)
  all.onError(answerPageError)
  return all
}

const sameOrigin = csrf({ origin: (origin, c) => origin === publicOrigin(c) })

const UPLOAD_PATH = "/files"

/** Forms are a few fields; the plan bounds the one form that brings a file. */
const smallBody = boundBody(8 * 1024)
const formBody = except(UPLOAD_PATH, smallBody)

/** Reads a form's body in time, before a page that would wait for its end without a limit. */
function boundBody(bytesMax: number): MiddlewareHandler<App> {
  function tooLarge(): Problem {
    return new Problem("payload_too_large", `A form may have ${bytesMax} bytes here.`)
  }
  return createMiddleware<App>(async (c, next) => {
    const { method, body } = c.req.raw
    if (body && method !== "GET" && method !== "HEAD") {
      const read = await readWhole(c, { bytesMax, tooLarge })
      c.req.raw = new Request(c.req.raw, { method, body: await read.bytes() })
    }
    await next()
  })
}

/** Sends who is not signed in to the page for that, and back afterwards. */
function requireSignedIn(send: Sender) {
  return createMiddleware<Pages>(async (c, next) => {
    const origin = publicOrigin(c)
    const signedIn = await findSignedIn(c.env, origin, c.req.raw.headers)
    if (!signedIn) {
      const { pathname, search } = new URL(c.req.url)
      return c.redirect(`/sign-in?next=${encodeURIComponent(pathname + search)}`, 303)
    }
    c.set("signedIn", signedIn)
    c.set("account", signedIn.account)
    c.set("api", apiOf(send(c), origin, signedIn))
    return await next()
  })
}
