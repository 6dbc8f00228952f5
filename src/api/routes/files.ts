import { z } from "zod"
import {
  unavailableDownloadProblem,
  redirectToDownload,
  DOWNLOAD_OPERATION_DEFAULTS,
} from "../output/downloads.ts"
import { getBaseUrl, readPreferredWaitMs } from "../input/request.ts"
import type { AppContext } from "../context.ts"
import { metadataFilterSchema } from "../input/query.ts"
import { makeStoredBundleZipName } from "../../contract/bundle.ts"
import { EXAMPLE_ID } from "../../platform/ids.ts"
import { LIMIT_PROBLEM_CODES } from "../output/limit-problem.ts"
import { emptyQuerySchema, defineOperation } from "../output/operation.ts"
import type { Operation } from "../output/operation.ts"
import { notFoundProblem, Problem } from "../output/problem.ts"
import { fileKind } from "../../kinds/file/kind.ts"
import { toLinkableFile, buildPublicUrl } from "../../kinds/file-links.ts"
import { isNormalizedDownloadName } from "../../kinds/normalize/names.ts"
import { fileRecordSchema, fileSourceSchema, buildFileRecord } from "../../kinds/file/record.ts"
import type { FileRecord } from "../../kinds/file/record.ts"
import {
  fileFormSchema,
  fileImportRequestSchema,
  IMPORT_EXAMPLE_REQUEST,
} from "../../kinds/file/request.ts"
import { chooseDatabasesForLists } from "../middleware/replica.ts"
import { findStatesByStatus } from "../../kinds/shared-record-fields.ts"
import { deleteFile } from "../../jobs/remove.ts"
import { readProgress, awaitFinalFileState } from "../../jobs/wait.ts"
import {
  findFile,
  findBundleMember,
  findStoredFile,
  listFiles,
  setFilePublishedAt,
} from "../../db/files/files.ts"
import type { FileWithJob } from "../../domain/snapshot.ts"
import type { File } from "../../db/schema/files.ts"
import { hydrateFile } from "../../db/values/hydrate.ts"
import {
  makeCollectionOperations,
  resourceUrl,
  readPathResourceId,
  statusFilterSchema,
} from "../output/collection.ts"
import { createFile } from "./create-file.ts"

const upload = defineOperation({
  method: "post",
  path: "/files",
  operationId: "createFile",
  summary: "Upload a file, or import it from a URL",
  description:
    "A multipart body of more than `upload_body_bytes` (`GET /v1/account`) is a 413. Send a larger file in pieces by `POST /v1/uploads`, or import it by `file_url`, from the web or as `s3://bucket/key`.",
  tag: "files",
  query: emptyQuerySchema,
  headers: ["Idempotency-Key", "Prefer"],
  bodies: {
    "multipart/form-data": { schema: fileFormSchema, example: { file: "(the bytes)" } },
    "application/json": { schema: fileImportRequestSchema, example: IMPORT_EXAMPLE_REQUEST },
  },
  answer: {
    status: 201,
    description: "The file, whose import or probe may still be running.",
    schema: fileRecordSchema,
    headers: { Location: "URL of the record." },
  },
  errors: [
    "idempotency_conflict",
    ...LIMIT_PROBLEM_CODES,
    "payload_too_large",
    "request_timeout",
    "tool_missing",
    "too_many_uploads",
    "unsupported_media_type",
  ],
  async handle(c) {
    const { jobId: id, replayed, newFile } = await createFile(c)
    const waitMs = readPreferredWaitMs(c)
    const headers = { location: resourceUrl(c, fileKind, id) }
    // If the request does not wait for the job's end, the new file suffices for the response,
    // without another query of D1.
    if (newFile && !waitMs) return { body: buildFileRecord(getBaseUrl(c), newFile, null), headers }
    const found = await find(c, id, waitMs, !replayed)
    if (!found) throw notFoundProblem("file")
    const whole = await hydrateFound(c, found)
    return { body: await view(c, whole), headers }
  },
})

const download = defineOperation({
  ...DOWNLOAD_OPERATION_DEFAULTS,
  method: "get",
  path: "/files/{id}/{name}",
  operationId: "downloadFile",
  summary: "Get a signed link to a file, or to a member of a bundle",
  tag: "files",
  errors: ["not_found", "not_final"],
  async handle(c, query) {
    const asked = c.req.param("name") ?? ""
    const fileId = readPathResourceId(c, "file")
    const file = await findStoredFile(c.get("database"), fileId)
    if (!file || !fileSourceSchema.safeParse(file.source).success)
      throw await findUnavailableProblem(c, fileId, asked)
    const name = await resolveStoredName(c, file, asked)
    if (name === null) throw wrongNameProblem(file)
    return await redirectToDownload(c, { file, name, query, durationSeconds: readDuration(file) })
  },
})

const publish = defineOperation({
  method: "post",
  path: "/files/{id}/publish",
  operationId: "publishFile",
  summary: "Publish a file at a URL that needs no key",
  tag: "files",
  query: emptyQuerySchema,
  answer: {
    status: 200,
    description: "The public URL, which is the same for each request.",
    schema: z.object({ public_url: z.url() }),
  },
  errors: ["not_found", "not_final"],
  example: { id: EXAMPLE_ID },
  async handle(c) {
    const id = readPathResourceId(c, "file")
    const found = await findFile(c.get("database"), id)
    if (!found) throw notFoundProblem("file")
    if (!(await setFilePublishedAt(c.get("database"), id, Date.now())))
      throw importUnavailableProblem(found.file)
    return { body: { public_url: buildPublicUrl(getBaseUrl(c), toLinkableFile(found.file)) } }
  },
})

const unpublish = defineOperation({
  method: "delete",
  path: "/files/{id}/publish",
  operationId: "unpublishFile",
  summary: "Unpublish a file; no effect on a file that is not published",
  tag: "files",
  query: emptyQuerySchema,
  answer: { status: 200, description: "The file is not published.", schema: z.object({}) },
  errors: ["not_found"],
  example: { id: EXAMPLE_ID },
  async handle(c) {
    if (!(await setFilePublishedAt(c.get("database"), readPathResourceId(c, "file"), null)))
      throw notFoundProblem("file")
    return { body: {} }
  },
})

/** Returns the error response for a file without stored bytes, whose import may still run. */
async function findUnavailableProblem(c: AppContext, id: string, name: string): Promise<Problem> {
  const found = await findFile(c.get("database"), id)
  if (!found) return notFoundProblem("file")
  return found.file.name === name
    ? importUnavailableProblem(found.file)
    : wrongNameProblem(found.file)
}

/**
 * Returns the name under which the file that a download URL requests is stored; null if the URL's
 * name is wrong. A playlist may be stored under another name than its File record has.
 */
async function resolveStoredName(c: AppContext, file: File, asked: string): Promise<string | null> {
  const { name, bundle } = file
  const ownName = bundle?.kind === "playlist" ? (bundle.playlist ?? name) : name
  if (asked === name || isNormalizedDownloadName(file, asked)) return ownName
  if (bundle && asked === makeStoredBundleZipName(name)) return asked
  return (await findBundleMember(c.env.MEDIA, file, [asked]))?.name ?? null
}

/** Returns a 404 with the correct name of a file. */
function wrongNameProblem({ name, bundle }: File): Problem {
  const others = bundle ? "; the record lists the files of the bundle" : ""
  const message = `The name in the URL is wrong; the file is called \`${name}\`, as in its download_url${others}.`
  return new Problem("not_found", message)
}

function importUnavailableProblem(file: File): Problem {
  return unavailableDownloadProblem(file, {
    pending: "The import of the file has not ended; wait for its end.",
    failed: "The import failed and the file has no bytes",
    reason: "its import failed",
  })
}

export const fileOperations: Operation[] = [
  upload,
  ...makeCollectionOperations({
    path: fileKind.path,
    title: fileKind.title,
    record: fileRecordSchema,
    filters: z.object({
      status: statusFilterSchema,
      source: fileSourceSchema.optional(),
      name: z.string().optional().meta({ description: "Only Files of exactly this name." }),
      metadata: metadataFilterSchema,
    }),
    list: async (c, { status, source, name, metadata: pair }, page) => {
      const states = status && findStatesByStatus(status)
      return await listFiles(chooseDatabasesForLists(c), { source, name, states, pair }, page)
    },
    idOf: ({ file }) => file.id,
    jobOf: ({ job }) => job,
    find,
    hydrate: hydrateFound,
    view: (c, found, progress) => buildFileRecord(getBaseUrl(c), found, progress),
    remove: async (c, found) => await deleteFile(c.env, c.executionCtx, found),
  }),
  download,
  publish,
  unpublish,
]

/**
 * Returns the playing time in seconds of a media file or playlist; undefined if the time is
 * unknown.
 */
function readDuration({ bundle, probe }: File): number | undefined {
  return bundle?.durationSeconds ?? probe?.duration
}

/**
 * Finds a file. Waits up to `waitMs` until its bytes are stored and ffprobe has read its metadata.
 */
async function find(
  c: AppContext,
  fileId: string,
  waitMs: number | null,
  isNew = false,
): Promise<FileWithJob | null> {
  return await awaitFinalFileState(c.env, { accountId: c.get("account").id, fileId, isNew }, waitMs)
}

async function view(c: AppContext, found: FileWithJob): Promise<FileRecord> {
  const progress = found.job ? await readProgress(c.env, found.job) : null
  return buildFileRecord(getBaseUrl(c), found, progress)
}

async function hydrateFound(c: AppContext, found: FileWithJob): Promise<FileWithJob> {
  return { ...found, file: await hydrateFile(c.env.MEDIA, found.file) }
}
