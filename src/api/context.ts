import type { Context } from "hono"
import type { Env } from "../bindings/env.ts"
import type { PlanLimits } from "../domain/plans.ts"
import type { RateLimitResult, CallerKey, CallerAccount } from "../bindings/rpc.ts"
import type { AccountDatabases } from "../db/database.ts"
import type { UploadLink } from "../db/schema/uploads.ts"

/** Hono environment of the API: bindings of the Worker, and variables that middleware sets. */
export type AppEnv = {
  Bindings: Env
  Variables: {
    requestId: string
    /** Error code of the response; undefined for a success. */
    problemCode: string | undefined
    account: CallerAccount
    /** API key of the request; null for a user who is signed in to the dashboard. */
    key: CallerKey | null
    /**
     * Result of the rate limit for this request, with the caller's remaining requests; undefined
     * before authentication.
     */
    allowance: RateLimitResult | undefined
    /** Name of the Durable Object that counts the caller's requests. */
    limiterName: string
    limits: PlanLimits
    /** D1 databases that hold the caller's account. */
    database: AccountDatabases
    /** Upload link that authorizes a request without an API key; undefined for other requests. */
    uploadLink: UploadLink | undefined
    /**
     * Whether a create request uses the Job form, whose response is a Job and whose invalid fields
     * cause a 400; undefined until the body has been read.
     */
    isInJobForm: boolean | undefined
  }
}

export type AppContext = Context<AppEnv>
