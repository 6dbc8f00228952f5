import type { Hono } from "hono"
import type { AppEnv } from "../context.ts"
import { throwMethodNotAllowed } from "../output/operation.ts"

/** Adds 405 responses with `Allow` to an app outside /v1; call it after adding the routes. */
export function addMethodNotAllowedRoutes(app: Hono<AppEnv>): void {
  const routes = app.routes.filter(({ method }) => method !== "ALL")
  for (const [path, routesOfPath] of Map.groupBy(routes, (route) => route.path)) {
    const methods = routesOfPath.map(({ method }) => method)
    app.all(path, (c) => throwMethodNotAllowed(c, methods))
  }
}
