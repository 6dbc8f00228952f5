import { createMiddleware } from "hono/factory"
import { notFoundProblem, Problem } from "../api/output/problem.ts"
import type { PageEnv } from "./context.ts"

/**
 * Middleware that lets only operators pass; other users get a 404 response. A suspended operator
 * gets an error, because otherwise operators could end their own suspension.
 */
export const requireOperator = createMiddleware<PageEnv>(async (c, next) => {
  const { user, account } = c.get("signedIn")
  if (!user.isOperator) throw notFoundProblem("page")
  if (account.isSuspended) {
    throw new Problem("account_suspended", "Your account is suspended; ask another operator.")
  }
  await next()
})
