import type { Hono, MiddlewareHandler } from "hono"
import { methodOverride } from "hono/method-override"
import type { AppEnv } from "../context.ts"

const HEADER = "X-HTTP-Method-Override"
/** HTTP methods that a proxy between a client and the service may refuse. */
const METHODS = new Set(["PATCH", "DELETE", "HEAD"])

/**
 * Returns middleware that treats a POST of a tus client as the method in the header
 * `X-HTTP-Method-Override`.
 */
export function overrideTusMethod(app: Hono<AppEnv>): MiddlewareHandler<AppEnv> {
  const override = methodOverride({ app, header: HEADER })
  return async (c, next) => {
    const isOverridden = c.req.method === "POST" && METHODS.has(c.req.header(HEADER) ?? "")
    return isOverridden ? await override(c, next) : await next()
  }
}
