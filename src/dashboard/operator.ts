import { createMiddleware } from "hono/factory"
import { notFound, Problem } from "../http/problem.ts"
import type { Pages } from "./context.ts"

/**
 * Lets operators on; to anybody else the pages below it are not there. One whom another operator has
 * suspended is refused, and so cannot lift it.
 */
export const requireOperator = createMiddleware<Pages>(async (c, next) => {
  const { user, account } = c.get("signedIn")
  if (!user.isOperator) throw notFound("page")
  if (account.isSuspended) {
    throw new Problem("account_suspended", "Your account is suspended; ask another operator.")
  }
  await next()
})
