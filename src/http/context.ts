import type { Context } from "hono"
import type { Limits } from "../contract/plan.ts"
import type { Env } from "../env.ts"
import { settingsOf } from "../env.ts"
import type { KeyHolder } from "../storage/keys.ts"

/** What the shared steps of a request leave for its handler. */
export type App = {
  Bindings: Env
  Variables: { requestId: string; account: KeyHolder; limits: Limits }
}

export type AppContext = Context<App>

/** Address of the interface as callers know it, with the version: `https://host/v1`. */
export function baseUrl(c: AppContext): string {
  return `${publicOrigin(c)}/v1`
}

/** Origin under which callers reach this deployment. */
export function publicOrigin(c: AppContext): string {
  return settingsOf(c.env).PUBLIC_ORIGIN?.replace(/\/+$/, "") ?? new URL(c.req.url).origin
}
