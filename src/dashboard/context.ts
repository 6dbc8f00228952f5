import type { Context } from "hono"
import type { SignedIn } from "../auth/session.ts"
import type { App } from "../http/request.ts"
import type { Api } from "./api.ts"

/** What a page of the dashboard has: a user who is signed in, and the interface as that user. */
export type Pages = {
  Bindings: App["Bindings"]
  Variables: App["Variables"] & { signedIn: SignedIn; api: Api }
}

export type PageContext = Context<Pages>
