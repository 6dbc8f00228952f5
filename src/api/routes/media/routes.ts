import { Hono } from "hono"
import { getSettings } from "../../../bindings/env.ts"
import { allowEveryOrigin } from "../../middleware/cors.ts"
import { addMethodNotAllowedRoutes } from "../methods.ts"
import { notFoundProblem, Problem } from "../../output/problem.ts"
import type { AppEnv, AppContext } from "../../context.ts"
import { isId } from "../../../platform/ids.ts"
import { countDatabases, openDatabaseByNumber } from "../../../db/database.ts"
import { findPublishedFile } from "../../../db/files/files.ts"
import type { File } from "../../../db/schema/files.ts"
import { verifyDownloadToken } from "../../../objects/download-links.ts"
import type { DownloadLink } from "../../../objects/download-links.ts"
import { sendDownloadLinkTarget, sendStoredFile } from "./send.ts"

/** Routes that send files for signed links. */
export const signedLinkRoutes = new Hono<AppEnv>()
signedLinkRoutes.use(allowEveryOrigin)

signedLinkRoutes.get("/:token/:name", async (c) => {
  const { opens, disposition, expiresAt } = await openLink(c)
  const secondsLeft = Math.max(0, Math.floor((expiresAt - Date.now()) / 1000))
  // The object under a key never changes, so caches may keep the response until the link expires.
  const options = { disposition, cacheControl: `private, max-age=${secondsLeft}, immutable` }
  return await sendDownloadLinkTarget(c, opens, options)
})

addMethodNotAllowedRoutes(signedLinkRoutes)

/**
 * Routes that send published files. Caches may keep a file for a minute, so the withdrawal of a
 * file takes effect within a minute.
 */
export const publishedFileRoutes = new Hono<AppEnv>()
publishedFileRoutes.use(allowEveryOrigin)

publishedFileRoutes.get("/:database{[1-9][0-9]?}/:id/:name", async (c) => {
  const found = await findPublished(c, c.req.param("id").toLowerCase())
  if (!found) throw notFoundProblem("file")
  const disposition = c.req.query("disposition") === "attachment" ? "attachment" : "inline"
  return await sendStoredFile(c, found, { disposition, cacheControl: "public, max-age=60" })
})

addMethodNotAllowedRoutes(publishedFileRoutes)

async function findPublished(c: AppContext, fileId: string): Promise<File | null> {
  const database = Number(c.req.param("database"))
  if (!isId(fileId) || database < 1 || database > countDatabases(c.env)) return null
  return await findPublishedFile(openDatabaseByNumber(c.env, database), fileId)
}

async function openLink(c: AppContext): Promise<DownloadLink> {
  const settings = getSettings(c.env)
  const link = await verifyDownloadToken(settings.LATHE_SECRET, c.req.param("token") ?? "")
  if (!link)
    throw new Problem(
      "invalid_signature",
      "The signature of the link is invalid; get a new link from the download_url.",
    )
  if (link.expiresAt <= Date.now()) {
    throw new Problem("link_expired", "The link has expired; get a new link from the download_url.")
  }
  return link
}
