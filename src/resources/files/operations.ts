import { z } from "zod"
import { absentProblem, answerLink, DOWNLOAD } from "../../http/downloads.ts"
import { baseUrl, preferredWaitMs } from "../../http/request.ts"
import type { AppContext } from "../../http/request.ts"
import { EXAMPLE_ID } from "../../ids.ts"
import { LIMIT_PROBLEMS } from "../../http/limit-problem.ts"
import { NO_QUERY, operation } from "../../http/operation.ts"
import type { Operation } from "../../http/operation.ts"
import { notFound, Problem } from "../../http/problem.ts"
import { file as fileKind } from "../../kinds/file/kind.ts"
import { publicUrl } from "../../kinds/file-links.ts"
import { fileRecord, fileSource, viewFile } from "../../kinds/file/record.ts"
import type { FileRecord } from "../../kinds/file/record.ts"
import { fileForm, fileImport, IMPORT_EXAMPLE } from "../../kinds/file/request.ts"
import { listDatabase } from "../../http/replica.ts"
import { statesOf } from "../../kinds/record-fields.ts"
import { deleteFile } from "../../pipeline/jobs/delete.ts"
import { progressOf, awaitFileEnd } from "../../pipeline/jobs/wait.ts"
import { findFile, findMember, findStored, listFiles, setPublished } from "../../storage/files.ts"
import type { FileWithJob } from "../../storage/files.ts"
import type { File } from "../../storage/schema/files.ts"
import { hydrateFile } from "../../storage/hydrate.ts"
import { collectionOperations, locationOf, readId, statusFilter } from "../../http/collection.ts"
import { createFile } from "./create.ts"

const upload = operation({
  method: "post",
  path: "/files",
  operationId: "createFile",
  summary: "Upload a file, or bring one in from a URL",
  description:
    "A multipart body of more than `upload_body_bytes` (`GET /v1/account`) is a 413: a larger file comes by `file_url`, from the web or as `s3://bucket/key`.",
  tag: "files",
  query: NO_QUERY,
  headers: ["Idempotency-Key", "Prefer"],
  bodies: {
    "multipart/form-data": { schema: fileForm, example: { file: "(the bytes)" } },
    "application/json": { schema: fileImport, example: IMPORT_EXAMPLE },
  },
  answer: {
    status: 201,
    description: "The file; its import or its probe may still be under way.",
    schema: fileRecord,
    headers: { Location: "The address of the record." },
  },
  errors: [
    "idempotency_conflict",
    ...LIMIT_PROBLEMS,
    "payload_too_large",
    "request_timeout",
    "tool_missing",
    "too_many_uploads",
    "unsupported_media_type",
  ],
  async handle(c) {
    const { jobId: id, replayed, made } = await createFile(c)
    const waitMs = preferredWaitMs(c)
    const headers = { location: locationOf(c, fileKind, id) }
    // Who does not wait is answered without another look at D1.
    if (made && !waitMs) return { body: viewFile(baseUrl(c), made, null), headers }
    const found = await find(c, id, waitMs, !replayed)
    if (!found) throw notFound("file")
    const whole = await wholeFound(c, found)
    return { body: await view(c, whole), headers }
  },
})

const download = operation({
  ...DOWNLOAD,
  method: "get",
  path: "/files/{id}/{name}",
  operationId: "downloadFile",
  summary: "Get a signed link to a file, or to a member of a bundle",
  tag: "files",
  errors: ["not_found", "not_final"],
  async handle(c, asked) {
    const name = c.req.param("name") ?? ""
    const fileId = readId(c, "file")
    const file = await findStored(c.get("database"), fileId)
    if (!file || !fileSource.safeParse(file.source).success) throw await whyAbsent(c, fileId, name)
    const isThere = name === file.name || (await findMember(c.env.MEDIA, file, [name])) !== null
    if (!isThere) throw calledOtherwise(file)
    return await answerLink(c, { file, name, asked, durationSeconds: durationOf(file) })
  },
})

const publish = operation({
  method: "post",
  path: "/files/{id}/publish",
  operationId: "publishFile",
  summary: "Give a file an address that needs no key, until that is taken back",
  tag: "files",
  query: NO_QUERY,
  answer: {
    status: 200,
    description: "The address; the same each time.",
    schema: z.object({ public_url: z.url() }),
  },
  errors: ["not_found", "not_final"],
  example: { id: EXAMPLE_ID },
  async handle(c) {
    const id = readId(c, "file")
    const found = await findFile(c.get("database"), id)
    if (!found) throw notFound("file")
    if (!(await setPublished(c.get("database"), id, Date.now()))) throw absent(found.file)
    return { body: { public_url: publicUrl(baseUrl(c), found.file) } }
  },
})

const unpublish = operation({
  method: "delete",
  path: "/files/{id}/publish",
  operationId: "unpublishFile",
  summary: "Take the public address of a file back; one without is left as it is",
  tag: "files",
  query: NO_QUERY,
  answer: { status: 200, description: "Nobody reads it without a key.", schema: z.object({}) },
  errors: ["not_found"],
  example: { id: EXAMPLE_ID },
  async handle(c) {
    if (!(await setPublished(c.get("database"), readId(c, "file"), null))) throw notFound("file")
    return { body: {} }
  },
})

/** What a download of a file that is not stored is answered with: an import may be on its way. */
async function whyAbsent(c: AppContext, id: string, name: string): Promise<Problem> {
  const found = await findFile(c.get("database"), id)
  if (!found) return notFound("file")
  return found.file.name === name ? absent(found.file) : calledOtherwise(found.file)
}

/** The 404 of a file that is there under another name than the one that was asked for. */
function calledOtherwise({ name, bundle }: File): Problem {
  const others = bundle ? ", and the record names those in it" : ""
  const message = `There is no such file; it is called \`${name}\`, as its download_url says${others}.`
  return new Problem("not_found", message)
}

function absent(file: File): Problem {
  return absentProblem(file, {
    pending: "The file is still on its way from its URL; wait for its end.",
    failed: "The file could not be brought in, so there is none",
    reason: "its import failed",
  })
}

/** The operations of files. */
export const fileOperations: Operation[] = [
  upload,
  ...collectionOperations({
    path: fileKind.path,
    title: fileKind.title,
    record: fileRecord,
    filters: z.object({
      status: statusFilter,
      source: fileSource.optional(),
    }),
    list: async (c, { status, source }, page) =>
      await listFiles(listDatabase(c), { source, states: status && statesOf(status) }, page),
    idOf: ({ file }) => file.id,
    jobOf: ({ job }) => job,
    find,
    whole: wholeFound,
    view: (c, found, progress) => viewFile(baseUrl(c), found, progress),
    remove: async (c, found) => await deleteFile(c.env, c.executionCtx, found),
  }),
  download,
  publish,
  unpublish,
]

/** How long a file plays, or what its playlist names; in seconds. */
function durationOf({ bundle, probe }: File): number | undefined {
  return bundle?.durationSeconds ?? probe?.duration
}

/** A file, once it is there and probed or its caller no longer wants to wait for that. */
async function find(
  c: AppContext,
  fileId: string,
  waitMs: number | null,
  isNew = false,
): Promise<FileWithJob | null> {
  return await awaitFileEnd(c.env, { accountId: c.get("account").id, fileId, isNew }, waitMs)
}

async function view(c: AppContext, found: FileWithJob): Promise<FileRecord> {
  const progress = found.job ? await progressOf(c.env, found.job) : null
  return viewFile(baseUrl(c), found, progress)
}

async function wholeFound(c: AppContext, found: FileWithJob): Promise<FileWithJob> {
  return { ...found, file: await hydrateFile(c.env.MEDIA, found.file) }
}
