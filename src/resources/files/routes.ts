import { Hono } from "hono"
import { settingsOf } from "../../env.ts"
import { parseBody } from "../../http/body.ts"
import { baseUrl, publicOrigin } from "../../http/context.ts"
import type { App, AppContext } from "../../http/context.ts"
import { readCreateFacts } from "../../http/create-fields.ts"
import { keyConflict, markReplayed, readIdempotency } from "../../http/idempotency.ts"
import { receiveMultipart } from "../../http/multipart.ts"
import type { ReceivedFile } from "../../http/multipart.ts"
import { linkNext, readPage } from "../../http/paging.ts"
import { preferredWaitMs } from "../../http/prefer.ts"
import { notFound, unprocessable } from "../../http/problem.ts"
import { isId } from "../../ids.ts"
import { acceptOnce } from "../../pipeline/create.ts"
import { deleteFile } from "../../pipeline/delete.ts"
import { progressOf } from "../../pipeline/progress.ts"
import { abandonWriter } from "../../pipeline/sweep.ts"
import { awaitEnd } from "../../pipeline/wait.ts"
import { openDatabase } from "../../storage/database.ts"
import { findFile, findStored, listFiles } from "../../storage/files.ts"
import type { FileWithJob } from "../../storage/files.ts"
import { makeLinkToken } from "../../storage/links.ts"
import type { PartWriter } from "../../storage/part-writer.ts"
import type { File } from "../../storage/schema.ts"
import { withWholeProbe } from "../../storage/probes.ts"
import { fileFields } from "./schema.ts"
import { draftOfUpload } from "./tasks.ts"
import { viewFile } from "./view.ts"

/** A playlist may say what it likes of its length. */
const PLAY_SECONDS_MAX = 24 * 3600

export const files = new Hono<App>()

files.post("/", async (c) => {
  const created = createFile(c)
  // A caller that hangs up must not keep what it began from being cleared away.
  c.executionCtx.waitUntil(created.catch(() => undefined))
  const id = await created
  const found = await findOnceDone(c, id)
  return c.json(await view(c, found), 201, { location: `${baseUrl(c)}/files/${id}` })
})

files.get("/", async (c) => {
  const page = readPage(c)
  const found = await listFiles(openDatabase(c.env.DB), c.get("account").id, page)
  linkNext(
    c,
    "/files",
    page,
    found.map(({ file }) => file),
  )
  return c.json(found.map((each) => viewFile(baseUrl(c), each, null)))
})

files.get("/:id", async (c) => {
  const id = c.req.param("id")
  if (!isId(id)) throw notFound("file")
  return c.json(await view(c, await findOnceDone(c, id.toLowerCase())))
})

files.delete("/:id", async (c) => {
  await deleteFile(c.env, c.executionCtx, await find(c))
  return c.json({})
})

files.get("/:id/:name", async (c) => {
  const { id, name } = c.req.param()
  if (!isId(id)) throw notFound("file")
  const stored = { accountId: c.get("account").id, fileId: id.toLowerCase() }
  const found = await findStored(openDatabase(c.env.DB), stored, [name])
  if (!found || (name !== found.file.name && !found.member)) throw notFound("file")
  const settings = settingsOf(c.env)
  const token = await makeLinkToken(settings.LATHE_SECRET, {
    ...stored,
    expiresAt: Date.now() + (settings.LINK_SECONDS + playSeconds(found.file)) * 1000,
    disposition: c.req.query("disposition") === "inline" ? "inline" : "attachment",
  })
  const place = `${publicOrigin(c)}/media/${token}/${encodeURIComponent(name)}`
  return c.body(null, 302, { location: place, "cache-control": "no-store" })
})

/** How long a player goes on asking for what a playlist names. */
function playSeconds({ bundle }: File): number {
  return Math.min(Math.ceil(bundle?.durationSeconds ?? 0), PLAY_SECONDS_MAX)
}

/** A file as it is once its caller no longer wants to wait for its job. */
async function findOnceDone(c: AppContext, id: string): Promise<FileWithJob> {
  const waitMs = preferredWaitMs(c)
  if (waitMs !== null) await awaitEnd(c.env, { accountId: c.get("account").id, jobId: id }, waitMs)
  return await find(c, id)
}

async function find(c: AppContext, id = c.req.param("id") ?? ""): Promise<FileWithJob> {
  const found = isId(id)
    ? await findFile(openDatabase(c.env.DB), c.get("account").id, id.toLowerCase())
    : null
  if (!found) throw notFound("file")
  return found
}

async function createFile(c: AppContext): Promise<string> {
  const writers: PartWriter[] = []
  try {
    const received = await receiveMultipart(c, (started) => writers.push(started))
    const fields = parseBody(fileFields, Object.fromEntries(received.fields))
    const file = chooseSource(received.file, fields.file_url)
    const facts = readCreateFacts(c, fields)
    const { name, digest } = file
    const once = await readIdempotency(c, [name, digest, fields])
    const draft = draftOfUpload(file, facts)
    const accepted = await acceptOnce(c.env, c.executionCtx, once, async () => draft)
    if (accepted === "conflict") throw keyConflict()
    if (accepted.replayed) {
      markReplayed(c)
      for (const writer of writers) await abandonWriter(c.env, writer)
    }
    return accepted.jobId
  } catch (error) {
    for (const writer of writers) await abandonWriter(c.env, writer)
    throw error
  }
}

function chooseSource(file: ReceivedFile | null, fileUrl: string | undefined): ReceivedFile {
  if (file && fileUrl !== undefined)
    throw unprocessable("file_url", "give file or file_url, not both")
  if (fileUrl !== undefined) throw unprocessable("file_url", "imports are not built yet")
  if (!file) throw unprocessable("file", "give file or file_url")
  if (file.sizeBytes === 0) throw unprocessable("file", "it is empty")
  return file
}

async function view(c: AppContext, found: FileWithJob) {
  const progress = found.job ? await progressOf(c.env, found.job) : null
  const file = await withWholeProbe(c.env.MEDIA, found.file)
  return viewFile(baseUrl(c), { ...found, file }, progress)
}
