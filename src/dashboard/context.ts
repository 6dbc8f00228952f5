import type { Context } from "hono"
import type { SignedInUser } from "../accounts/sign-in/signed-in-user.ts"
import type { AppEnv } from "../api/context.ts"
import type { ApiClient } from "./api.ts"

/**
 * Hono environment of a dashboard page, with the signed-in user and a client of the API that acts
 * as this user.
 */
export type PageEnv = {
  Bindings: AppEnv["Bindings"]
  Variables: AppEnv["Variables"] & { signedIn: SignedInUser; api: ApiClient }
}

/** Hono context of a dashboard page. */
export type PageContext = Context<PageEnv>

/** Returns the id in the URL path of a page, percent-encoded for use in an API path. */
export function readEncodedPathId(c: PageContext): string {
  return encodeURIComponent(c.req.param("id") ?? "")
}
