import { Hono } from "hono"
import { html } from "hono/html"
import type { AppEnv } from "../context.ts"
import { addMethodNotAllowedRoutes } from "./methods.ts"
import { makePageSecurityHeaders } from "../middleware/page-headers.ts"

/** Script of the API viewer Scalar; see docs/decisions/0012. */
const SCALAR =
  "https://cdn.jsdelivr.net/npm/@scalar/api-reference@1.72.1/dist/browser/standalone.js"
/** Subresource integrity hash of the script; browsers refuse other content. */
const SCALAR_INTEGRITY = "sha384-U11tb2XnKvmwt8RlTvnwUnYgrN+ur4Xyh9htLhjajWNR/Oyl5AX5DEz00qRmlrmK"

/** Viewer settings that turn off requests to the vendor's sites. */
const CONFIGURATION = JSON.stringify({
  agent: { disabled: true },
  hideClientButton: true,
  mcp: { disabled: true },
  showDeveloperTools: "never",
  telemetry: false,
  withDefaultFonts: false,
})

/** Content security policy of the viewer: inline styles, and requests only to this service. */
const viewerHeaders = makePageSecurityHeaders({
  scriptSrc: [SCALAR],
  styleSrc: ["'unsafe-inline'"],
  imgSrc: ["'self'", "data:"],
  connectSrc: ["'self'"],
  formAction: ["'none'"],
})

/** Route of the page with the interactive API reference. */
export const docsRoutes = new Hono<AppEnv>()

docsRoutes.use("/", viewerHeaders)

docsRoutes.get("/", (c) =>
  c.html(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>Lathe</title>
        </head>
        <body>
          <p>
            The OpenAPI document: <a href="/v1/openapi.json">/v1/openapi.json</a>.
            <a href="/docs/errors/">Error codes</a>.
          </p>
          <script
            id="api-reference"
            data-url="/v1/openapi.json"
            data-configuration="${CONFIGURATION}"
          ></script>
          <script src="${SCALAR}" integrity="${SCALAR_INTEGRITY}" crossorigin="anonymous"></script>
        </body>
      </html>`,
  ),
)

docsRoutes.get("/errors", (c) => c.redirect("/docs/errors/", 308))

addMethodNotAllowedRoutes(docsRoutes)
