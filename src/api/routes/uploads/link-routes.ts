import { Hono } from "hono"
import type { Context, Next } from "hono"
import { getSettings } from "../../../bindings/env.ts"
import { getRateLimiter } from "../../../bindings/durable-objects.ts"
import { computeEffectiveLimits } from "../../../bindings/plan-limits.ts"
import { uploadLinkLimiterName } from "../../../bindings/rpc.ts"
import { findCallerAccount } from "../../../db/accounts/accounts.ts"
import {
  countDatabases,
  openDatabaseByNumber,
  openAccountDatabases,
  openDirectory,
} from "../../../db/database.ts"
import { findUploadLinkByHash } from "../../../db/files/upload-links.ts"
import type { UploadLink } from "../../../db/schema/uploads.ts"
import { readClientNetwork } from "../../../platform/client-network.ts"
import { sha256Hex } from "../../../platform/crypto/sha256.ts"
import type { AppContext, AppEnv } from "../../context.ts"
import { getPublicOrigin } from "../../input/request.ts"
import { allowUploadLinkOrigins, isListedOrigin } from "../../middleware/cors.ts"
import { ADDRESS_BLOCK_SECONDS, consumeNetworkAddressLimit } from "../../middleware/key-check.ts"
import { requireWithinRateLimit } from "../../middleware/rate-limit.ts"
import { notFoundProblem, Problem } from "../../output/problem.ts"
import { addMethodNotAllowedRoutes } from "../methods.ts"
import { sendTusHeaders } from "./tus-headers.ts"
import { createUpload, deleteUpload, patchUpload, sendUploadState } from "./tus.ts"
import { receiveFormByUploadLink, receivePutByUploadLink } from "./whole-file.ts"

const SECRET = "/:database{[1-9][0-9]?}/:secret"

/**
 * Routes of the URLs of upload links, which need no API key. A link takes one file, and reveals no
 * data of the account.
 */
export const uploadLinkRoutes = new Hono<AppEnv>()

uploadLinkRoutes.use(sendTusHeaders)
uploadLinkRoutes.use(`${SECRET}/:id?`, openLink)

uploadLinkRoutes.post(SECRET, async (c) => {
  if (c.req.header("tus-resumable") === undefined) return await receiveFormByUploadLink(c)
  const { database, secret } = c.req.param()
  return await createUpload(c, `${getPublicOrigin(c)}/uploads/${database}/${secret}`)
})
uploadLinkRoutes.put(SECRET, receivePutByUploadLink)
uploadLinkRoutes.get(SECRET, () => {
  throw notFoundProblem("page")
})
uploadLinkRoutes.get(`${SECRET}/:id`, async (c) => {
  if (c.req.method === "HEAD") return await sendUploadState(c)
  throw notFoundProblem("page")
})
uploadLinkRoutes.patch(`${SECRET}/:id`, patchUpload)
uploadLinkRoutes.delete(`${SECRET}/:id`, deleteUpload)

addMethodNotAllowedRoutes(uploadLinkRoutes)

/**
 * Middleware that finds the upload link of a request. The request has the rights of the link's
 * account, within the limits of the account and the link. Throws 404 for an unknown link, 410 for
 * an expired link.
 */
async function openLink(c: Context<AppEnv>, next: Next): Promise<Response | void> {
  const link = await findLink(c)
  if (!link) throw await refuseUnknownLink(c)
  return await allowUploadLinkOrigins(c, link.origins, async () => {
    requireOrigin(c, link)
    if (link.expiresAt <= Date.now()) {
      throw new Problem("link_expired", "The upload link has expired; ask for a new link.")
    }
    await actForLink(c, link)
    await next()
  })
}

async function findLink(c: AppContext): Promise<UploadLink | null> {
  const { database = "", secret = "" } = c.req.param()
  if (Number(database) > countDatabases(c.env)) return null
  return await findUploadLinkByHash(
    openDatabaseByNumber(c.env, Number(database)),
    await sha256Hex(secret),
  )
}

/**
 * Returns the error for an unknown upload link, and counts the attempt for the caller's network
 * address.
 */
async function refuseUnknownLink(c: AppContext): Promise<Problem> {
  const network = readClientNetwork(c.req.raw.headers)
  if (network === null || (await consumeNetworkAddressLimit(c.env, `link ${network}`))) {
    return new Problem("not_found", "No such upload link exists; it may have been deleted.")
  }
  return new Problem(
    "rate_limit_exceeded",
    "Your address asked for too many unknown links; try again in a minute.",
    {
      retryAfterSeconds: ADDRESS_BLOCK_SECONDS,
      headers: { "retry-after": `${ADDRESS_BLOCK_SECONDS}` },
    },
  )
}

function requireOrigin(c: AppContext, { origins }: UploadLink): void {
  const origin = c.req.header("origin")
  if (origin === undefined || origin === getPublicOrigin(c) || isListedOrigin(origins, origin))
    return
  throw new Problem("forbidden", "The upload link is not for pages of this origin.")
}

async function actForLink(c: AppContext, link: UploadLink): Promise<void> {
  const account = await findCallerAccount(openDirectory(c.env), link.accountId)
  if (!account) throw notFoundProblem("upload link")
  const key = link.keyId === null ? null : { id: link.keyId, scopes: [], expiresAt: null }
  const limiterName = uploadLinkLimiterName(link.id)
  const limits = computeEffectiveLimits(account, getSettings(c.env))
  const fileBytesMax = Math.min(limits.fileBytesMax, link.sizeBytesMax)
  c.set("account", account)
  c.set("key", key)
  c.set("limiterName", limiterName)
  c.set("limits", { ...limits, fileBytesMax })
  c.set("database", openAccountDatabases(c.env, account.id))
  c.set("uploadLink", link)
  requireWithinRateLimit(
    await getRateLimiter(c.env, limiterName).takeFor({ account, key }, { changes: true }),
  )
  if (account.isSuspended)
    throw new Problem("account_suspended", "The account of the link is suspended.")
}
