import type { Hono } from "hono"
import type { App } from "./request.ts"
import { refuseMethod } from "./operation.ts"

/** Answers 405 with `Allow` for the paths of an app that is no part of /v1; call it after its routes. */
export function guardMethods(app: Hono<App>): void {
  const routes = app.routes.filter(({ method }) => method !== "ALL")
  for (const [path, those] of Map.groupBy(routes, (route) => route.path)) {
    const methods = those.map(({ method }) => method)
    app.all(path, (c) => refuseMethod(c, methods))
  }
}
