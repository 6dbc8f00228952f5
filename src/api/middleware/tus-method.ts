import type { Hono, MiddlewareHandler } from "hono"
import { methodOverride } from "hono/method-override"
import type { AppEnv } from "../context.ts"

const HEADER = "X-HTTP-Method-Override"
/** Methods that networks between a client and the service may refuse. */
const METHODS = new Set(["PATCH", "DELETE", "HEAD"])

/** Treats a POST of a tus client as the method that its `X-HTTP-Method-Override` names. */
export function overrideTusMethod(app: Hono<AppEnv>): MiddlewareHandler<AppEnv> {
  const override = methodOverride({ app, header: HEADER })
  return async (c, next) => {
    const isOverridden = c.req.method === "POST" && METHODS.has(c.req.header(HEADER) ?? "")
    return isOverridden ? await override(c, next) : await next()
  }
}
