import type { Hono } from "hono"
import type { App } from "./context.ts"
import { Problem } from "./problem.ts"

/** Answers 405 with `Allow` for a known path asked with another method; call it after all routes. */
export function guardMethods(app: Hono<App>): void {
  const methods = new Map<string, Set<string>>()
  for (const { method, path } of app.routes) {
    if (method === "ALL") continue
    methods.set(path, (methods.get(path) ?? new Set()).add(method))
  }
  for (const [path, known] of methods) {
    const allow = [...known, ...(known.has("GET") ? ["HEAD"] : [])].toSorted().join(", ")
    app.all(path, (c) => {
      const message = `${c.req.method} is not for this path; it takes ${allow}.`
      throw new Problem("method_not_allowed", message, { headers: { allow } })
    })
  }
}
