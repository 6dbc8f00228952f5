import { Hono } from "hono"
import { settingsOf } from "../../env.ts"
import { allowEveryOrigin } from "../../http/cors.ts"
import { guardMethods } from "../../http/methods.ts"
import { notFound, Problem } from "../../http/problem.ts"
import type { App, AppContext } from "../../http/request.ts"
import { isId } from "../../ids.ts"
import { countDatabases, databaseAt } from "../../storage/database.ts"
import { findPublished } from "../../storage/files.ts"
import type { File } from "../../storage/schema/files.ts"
import { readLinkToken } from "../../storage/links.ts"
import type { Link } from "../../storage/links.ts"
import { sendOpened, sendStored } from "./send.ts"

/** Files behind signed links. */
export const media = new Hono<App>()
media.use(allowEveryOrigin)

media.get("/:token/:name", async (c) => {
  const { opens, disposition, expiresAt } = await openLink(c)
  const secondsLeft = Math.max(0, Math.floor((expiresAt - Date.now()) / 1000))
  const manner = { disposition, cacheControl: `private, max-age=${secondsLeft}` }
  return await sendOpened(c, opens, manner)
})

guardMethods(media)

/** Files that their accounts published; caches ask again each time, since that may be taken back. */
export const published = new Hono<App>()
published.use(allowEveryOrigin)

published.get("/:database{[1-9][0-9]?}/:id/:name", async (c) => {
  const found = await findOpen(c, c.req.param("id").toLowerCase())
  if (!found) throw notFound("file")
  const disposition = c.req.query("disposition") === "attachment" ? "attachment" : "inline"
  return await sendStored(c, found, { disposition, cacheControl: "public, no-cache" })
})

guardMethods(published)

async function findOpen(c: AppContext, fileId: string): Promise<File | null> {
  const database = Number(c.req.param("database"))
  if (!isId(fileId) || database < 1 || database > countDatabases(c.env)) return null
  return await findPublished(databaseAt(c.env, database), fileId)
}

async function openLink(c: AppContext): Promise<Link> {
  const settings = settingsOf(c.env)
  const link = await readLinkToken(settings.LATHE_SECRET, c.req.param("token") ?? "")
  if (!link)
    throw new Problem("invalid_signature", "The link was changed or is not of this service.")
  if (link.expiresAt <= Date.now()) {
    throw new Problem("link_expired", "The link has expired; get a new one from the download_url.")
  }
  return link
}
