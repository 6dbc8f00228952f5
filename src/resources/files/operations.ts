import { z } from "zod"
import { answerLink, DOWNLOAD } from "../../http/downloads.ts"
import { parseBody, baseUrl, preferredWaitMs, readIdempotencyKey } from "../../http/request.ts"
import type { AppContext } from "../../http/request.ts"
import { receiveMultipart } from "../../http/multipart.ts"
import { NO_QUERY, operation } from "../../http/operation.ts"
import type { Operation } from "../../http/operation.ts"
import { notFound, storageFull, unprocessable } from "../../http/problem.ts"
import { withUploadPlace } from "../../http/upload-places.ts"
import { file as fileKind } from "../../kinds/file/kind.ts"
import { planUpload } from "../../kinds/file/plan.ts"
import type { StoredUpload } from "../../kinds/file/plan.ts"
import { fileRecord, viewFile } from "../../kinds/file/record.ts"
import type { FileRecord } from "../../kinds/file/record.ts"
import { fileFields, fileForm } from "../../kinds/file/request.ts"
import { statesOf } from "../../kinds/record-fields.ts"
import { deleteFile } from "../../pipeline/jobs/delete.ts"
import { progressOf, awaitEnd } from "../../pipeline/jobs/wait.ts"
import { openIncomingFile } from "../../pipeline/uploads/incoming-file.ts"
import type { IncomingFile } from "../../pipeline/uploads/incoming-file.ts"
import { findFile, findLargeMember, findStored, listFiles } from "../../storage/files.ts"
import type { FileWithJob } from "../../storage/files.ts"
import type { File } from "../../storage/schema/files.ts"
import { FILE_SOURCES } from "../../storage/schema/states.ts"
import { wholeFile } from "../../storage/whole-rows.ts"
import { collectionOperations, locationOf, readId, statusFilter } from "../../http/collection.ts"
import { acceptCreate, readJobFacts } from "../../http/creates.ts"

/** A playlist may say what it likes of its length. */
const PLAY_SECONDS_MAX = 24 * 3600

const upload = operation({
  method: "post",
  path: "/files",
  operationId: "createFile",
  summary: "Upload a file",
  tag: "files",
  query: NO_QUERY,
  headers: ["Idempotency-Key", "Prefer"],
  bodies: { "multipart/form-data": { schema: fileForm, example: { file: "(the bytes)" } } },
  answer: {
    status: 201,
    description: "The file; its probe may still be under way.",
    schema: fileRecord,
    headers: { Location: "The address of the record." },
  },
  errors: [
    "idempotency_conflict",
    "payload_too_large",
    "request_timeout",
    "too_many_uploads",
    "unsupported_media_type",
  ],
  async handle(c) {
    const created = withUploadPlace(c, () => createFile(c))
    // A caller that hangs up must not stop what was begun from being removed.
    c.executionCtx.waitUntil(created.catch(() => undefined))
    const id = await created
    const found = await find(c, id, preferredWaitMs(c))
    if (!found) throw notFound("file")
    const whole = await wholeFound(c, found)
    return { body: await view(c, whole), headers: { location: locationOf(c, fileKind, id) } }
  },
})

const download = operation({
  ...DOWNLOAD,
  method: "get",
  path: "/files/{id}/{name}",
  operationId: "downloadFile",
  summary: "Get a short-lived signed link to a file, or to a member of a bundle",
  tag: "files",
  errors: ["not_found"],
  async handle(c, { disposition }) {
    const name = c.req.param("name") ?? ""
    const fileId = readId(c, "file")
    const found = await findStored(c.get("database"), fileId, [name])
    if (!found || found.file.source === "fetch") throw notFound("file")
    const isThere =
      name === found.file.name ||
      found.member !== null ||
      (await findLargeMember(c.env.MEDIA, found.file, [name])) !== null
    if (!isThere) throw notFound("file")
    return await answerLink(c, { fileId, name, disposition, playSeconds: playSeconds(found.file) })
  },
})

/** The operations of files. */
export const fileOperations: Operation[] = [
  upload,
  ...collectionOperations({
    path: fileKind.path,
    title: fileKind.title,
    record: fileRecord,
    filters: z.object({
      status: statusFilter,
      source: z.enum(FILE_SOURCES, `expected one of ${FILE_SOURCES.join(", ")}`).optional(),
    }),
    list: async (c, { status, source }, page) =>
      await listFiles(c.get("database"), { source, states: status && statesOf(status) }, page),
    idOf: ({ file }) => file.id,
    find,
    whole: wholeFound,
    view,
    remove: async (c, found) => await deleteFile(c.env, c.executionCtx, found),
  }),
  download,
]

/** How long a player goes on asking for what a playlist names. */
function playSeconds({ bundle }: File): number {
  return Math.min(Math.ceil(bundle?.durationSeconds ?? 0), PLAY_SECONDS_MAX)
}

/** A file, once its job is over or its caller no longer wants to wait for that. */
async function find(c: AppContext, id: string, waitMs: number | null): Promise<FileWithJob | null> {
  const accountId = c.get("account").id
  if (waitMs !== null) await awaitEnd(c.env, { accountId, jobId: id }, waitMs)
  return await findFile(c.get("database"), id)
}

async function createFile(c: AppContext): Promise<string> {
  let incoming: IncomingFile | null = null
  try {
    const isHashed = readIdempotencyKey(c) !== null
    const form = await receiveMultipart(c, (part) => {
      incoming = openIncomingFile(c.env, c.get("account").id, { ...part, isHashed })
      return incoming
    })
    const fields = parseBody(fileFields, Object.fromEntries(form.fields))
    if (form.file && fields.file_url !== undefined) {
      throw unprocessable("file_url", "give file or file_url, not both")
    }
    if (fields.file_url !== undefined) throw unprocessable("file_url", "imports are not built yet")
    if (!form.file) throw unprocessable("file", "give file or file_url")
    const stored = await finish(incoming)
    if (!stored) throw storageFull()
    if (stored.sizeBytes === 0) throw unprocessable("file", "it is empty")
    const { name, contentType } = form.file
    const made: StoredUpload = { ...stored, name, contentType }
    const draft = planUpload(made, readJobFacts(c, fields))
    const { jobId, replayed } = await acceptCreate(
      c,
      [name, stored.digest, fields],
      async () => draft,
    )
    if (replayed) await abandon(incoming)
    return jobId
  } catch (error) {
    await abandon(incoming)
    throw error
  }
}

async function finish(incoming: IncomingFile | null) {
  return (await incoming?.finish()) ?? null
}

async function abandon(incoming: IncomingFile | null): Promise<void> {
  await incoming?.abandon()
}

async function view(c: AppContext, found: FileWithJob): Promise<FileRecord> {
  const progress = found.job ? await progressOf(c.env, found.job) : null
  return viewFile(baseUrl(c), found, progress)
}

async function wholeFound(c: AppContext, found: FileWithJob): Promise<FileWithJob> {
  return { ...found, file: await wholeFile(c.env.MEDIA, found.file) }
}
