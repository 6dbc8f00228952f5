import { Hono } from "hono"
import { html } from "hono/html"
import type { App } from "../../http/request.ts"
import { guardMethods } from "../../http/methods.ts"
import { pageHeaders } from "../../http/page-headers.ts"

/** Scalar's script; see docs/decisions/0012. */
const SCALAR =
  "https://cdn.jsdelivr.net/npm/@scalar/api-reference@1.72.1/dist/browser/standalone.js"
/** Hash of that file as its npm package has it; the browser runs no other bytes. */
const SCALAR_INTEGRITY = "sha384-U11tb2XnKvmwt8RlTvnwUnYgrN+ur4Xyh9htLhjajWNR/Oyl5AX5DEz00qRmlrmK"

/** Leaves out what the viewer would load from, or send to, sites of its maker. */
const CONFIGURATION = JSON.stringify({
  agent: { disabled: true },
  hideClientButton: true,
  mcp: { disabled: true },
  showDeveloperTools: "never",
  telemetry: false,
  withDefaultFonts: false,
})

/** The viewer writes its styles into the page, and asks this service alone. */
const viewerHeaders = pageHeaders({
  scriptSrc: [SCALAR],
  styleSrc: ["'unsafe-inline'"],
  imgSrc: ["'self'", "data:"],
  connectSrc: ["'self'"],
  formAction: ["'none'"],
})

/** The page of the interface, to read and to try. */
export const docs = new Hono<App>()

docs.use("/", viewerHeaders)

docs.get("/", (c) =>
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
            <a href="/docs/errors/">What each error code means</a>.
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

docs.get("/errors", (c) => c.redirect("/docs/errors/", 308))

guardMethods(docs)
