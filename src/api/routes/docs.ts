import { Hono } from "hono"
import { createMiddleware } from "hono/factory"
import { html } from "hono/html"
import { failureCodeSchema } from "../../contract/failure.ts"
import { FAULT_CODES_OF_REQUESTS_ONLY } from "../../domain/faults.ts"
import { makeDidYouMeanClause } from "../../hints/nearest-name.ts"
import type { AppContext, AppEnv } from "../context.ts"
import { makePageSecurityHeaders } from "../middleware/page-headers.ts"
import { PROBLEMS } from "../output/problem.ts"
import { addMethodNotAllowedRoutes } from "./methods.ts"

/** Content types of the site's files, by extension. */
const CONTENT_TYPES: Record<string, string> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  md: "text/markdown; charset=utf-8",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  webp: "image/webp",
}

/**
 * Pattern of URL paths of files that never change, because their names contain a hash of the
 * content.
 */
const HASHED = /^\/docs\/assets\//
/** URL path of the API viewer, whose script adds inline styles to the page. */
const VIEWER = "/docs/reference/viewer"

const SOURCES = {
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  connectSrc: ["'self'"],
  formAction: ["'none'"],
}
const siteHeaders = makePageSecurityHeaders(SOURCES)
const viewerHeaders = makePageSecurityHeaders({
  ...SOURCES,
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", "data:", "blob:"],
})

const UNBUILT =
  "The documentation of this service is not built: npm run setup builds it, and a restart shows it."

/** Documentation site: static files that `npm run site` builds, below /docs. */
export const docsRoutes = new Hono<AppEnv>()

docsRoutes.use(
  createMiddleware<AppEnv>(async (c, next) => {
    const headers = c.req.path === VIEWER ? viewerHeaders : siteHeaders
    return await headers(c, next)
  }),
)

docsRoutes.get("/", async (c) => {
  const home = await findFile(c, "/docs/index.html")
  return home ?? (await answerLack(c, 503, "Documentation", UNBUILT))
})

docsRoutes.get("/*", async (c) => {
  const { path } = c.req
  const found = await findFile(c, fileOf(path))
  if (found) return found
  const other = path.endsWith("/") ? path.slice(0, -1) : `${path}/`
  if (await findFile(c, fileOf(other))) return c.redirect(other, 308)
  if ((await findFile(c, "/docs/index.html")) === null) {
    return await answerLack(c, 503, "Documentation", UNBUILT)
  }
  const [, code] = /^\/docs\/errors\/([^/]+)\/?$/.exec(path) ?? []
  if (code !== undefined) return await redirectToCode(c, code)
  return await answerLack(c, 404, "Unknown page", "No page of the documentation has this address.")
})

addMethodNotAllowedRoutes(docsRoutes)

/** Returns the path of the static file for a URL path: `/docs/index.html` for `/docs/`. */
function fileOf(path: string): string {
  if (path.endsWith("/")) return `${path}index.html`
  return /\.[a-z]+$/.test(path) ? path : `${path}.html`
}

/** Returns the response with a file of the site. Returns null if there is no such file. */
async function findFile(c: AppContext, path: string): Promise<Response | null> {
  const url = new URL(path, "http://assets")
  const stored = await c.env.ASSETS.fetch(url, { headers: conditionsOf(c.req.raw.headers) })
  if (stored.status === 304) return new Response(null, { status: 304, headers: stored.headers })
  if (!stored.ok || url.pathname !== path) {
    await stored.body?.cancel()
    return null
  }
  if (isUnchanged(c, stored)) {
    await stored.body?.cancel()
    return new Response(null, { status: 304, headers: validatorsOf(stored.headers) })
  }
  const response = new Response(stored.body, { headers: validatorsOf(stored.headers) })
  const type = CONTENT_TYPES[path.split(".").at(-1) ?? ""]
  response.headers.set("content-type", type ?? "application/octet-stream")
  const lifetime = HASHED.test(path) ? "max-age=31536000, immutable" : "no-cache"
  response.headers.set("cache-control", `public, ${lifetime}`)
  return response
}

/**
 * Reports whether the caller's copy is current by `If-Modified-Since`. On one machine, static files
 * have modification times but no ETags.
 */
function isUnchanged(c: AppContext, stored: Response): boolean {
  const since = c.req.header("if-modified-since")
  return since !== undefined && since === stored.headers.get("last-modified")
}

function conditionsOf(headers: Headers): Record<string, string> {
  return pick(headers, ["if-none-match"])
}

function validatorsOf(headers: Headers): Record<string, string> {
  return pick(headers, ["etag", "last-modified"])
}

function pick(headers: Headers, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
}

const CODES = [
  ...new Set([
    ...Object.keys(PROBLEMS),
    ...failureCodeSchema.options,
    ...FAULT_CODES_OF_REQUESTS_ONLY,
  ]),
]

/**
 * Redirects another spelling of an error code to the page of the code: `NOT-FOUND` to `not_found`.
 * Responds with 404 for an unknown code.
 */
function redirectToCode(c: AppContext, text: string): Response | Promise<Response> {
  const plain = text.toLowerCase().replaceAll("-", "_")
  // `validation_error` is the value of `error` in the body of a 422 with the code `unprocessable`.
  const code = plain === "validation_error" ? "unprocessable" : plain
  if (CODES.includes(code) && code !== text) return c.redirect(`/docs/errors/${code}`, 308)
  const near = makeDidYouMeanClause(text, CODES, (name) => name).replace("; did", "Did")
  return answerLack(c, 404, "Unknown error code", `No error has this code. ${near}`)
}

/** Responds with an HTML page for a URL without a file, with links to the documentation. */
function answerLack(
  c: AppContext,
  status: 404 | 503,
  title: string,
  sentence: string,
): Response | Promise<Response> {
  return c.html(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>${title} · Lathe</title>
        </head>
        <body>
          <main>
            <h1>${title}</h1>
            <p>${sentence}</p>
            <ul>
              <li><a href="/docs">The documentation</a></li>
              <li><a href="/docs/errors/">All error codes</a></li>
              <li><a href="/v1/openapi.json">The interface as OpenAPI</a></li>
            </ul>
          </main>
        </body>
      </html>`,
    status,
  )
}
