import { z } from "zod"
import {
  UPLOAD_LINKS_MAX,
  deleteUploadLink,
  findUploadLink,
  insertUploadLink,
  listUploadLinks,
} from "../../../db/files/upload-links.ts"
import type { UploadLink } from "../../../db/schema/uploads.ts"
import { commonRequestFieldSchemas, publishFieldSchemas } from "../../../kinds/create-fields.ts"
import { dateTimeSchema, toDateTime } from "../../../kinds/shared-record-fields.ts"
import { EXAMPLE_ID, readDatabaseNumber, newId } from "../../../platform/ids.ts"
import { toBase64Url } from "../../../platform/crypto/signature.ts"
import { sha256Hex } from "../../../platform/crypto/sha256.ts"
import type { AppContext } from "../../context.ts"
import { readJobProperties } from "../../input/accept.ts"
import { getPublicOrigin, readJsonBody } from "../../input/request.ts"
import { removeOpenUploadsOfLink } from "./create-upload-file.ts"
import { readPathResourceId } from "../../output/collection.ts"
import { emptyQuerySchema, defineOperation } from "../../output/operation.ts"
import type { Operation } from "../../output/operation.ts"
import { notFoundProblem, Problem } from "../../output/problem.ts"

const PATH = "/uploads/links"
const TITLE = "upload link"
const FACTS = { tag: "uploads", query: emptyQuerySchema } as const
/** Entropy of the secret in a link's URL, in bytes. */
const SECRET_BYTES = 24
const SECONDS_MAX = 7 * 86_400
const SECONDS_DEFAULT = 3600
const TYPES_MAX = 32
const ORIGINS_MAX = 32
const EXPECTED_SECONDS = `expected a whole number of seconds from 60 to ${SECONDS_MAX}`
const EXPECTED_SIZE = "expected a whole number of bytes above 0"
const EXPECTED_TYPE = "expected a media type such as `video/mp4` or `video/*`"
const EXPECTED_ORIGIN = "expected an origin such as `https://example.com`, or `*`"

const newUploadLink = z
  .strictObject({
    size_bytes_max: z.int(EXPECTED_SIZE).min(1, EXPECTED_SIZE).optional().meta({
      description: "Most bytes of the file; by default as many as the plan allows.",
    }),
    types: z
      .array(
        z
          .string(EXPECTED_TYPE)
          .regex(
            /^(?:application|audio|font|image|model|text|video)\/(?:\*|[\w.+-]{1,100})$/,
            EXPECTED_TYPE,
          ),
        "expected an array of media types",
      )
      .max(TYPES_MAX, `expected at most ${TYPES_MAX} types`)
      .default([])
      .meta({
        description:
          "Media types that the link takes, judged by the file's first bytes; an empty array takes every type.",
      }),
    expires_in: z
      .int(EXPECTED_SECONDS)
      .min(60, EXPECTED_SECONDS)
      .max(SECONDS_MAX, EXPECTED_SECONDS)
      .default(SECONDS_DEFAULT)
      .meta({ description: "Seconds for which the link can be used." }),
    origins: z
      .array(
        z.string(EXPECTED_ORIGIN).refine(isOrigin, EXPECTED_ORIGIN),
        "expected an array of origins",
      )
      .max(ORIGINS_MAX, `expected at most ${ORIGINS_MAX} origins`)
      .default([])
      .meta({ description: "Origins whose pages may use the link; `*` stands for every origin." }),
    webhook: commonRequestFieldSchemas.webhook,
    metadata: commonRequestFieldSchemas.metadata,
    priority: commonRequestFieldSchemas.priority,
    ...publishFieldSchemas,
  })
  .meta({ id: "NewUploadLink" })

const uploadLinkRecord = z
  .object({
    id: z.uuid(),
    size_bytes_max: z.int(),
    types: z.array(z.string()),
    origins: z.array(z.string()),
    file_id: z.uuid().nullable().meta({
      description: "Id of the File that used the link up; null while it can be used.",
    }),
    created_at: dateTimeSchema,
    expires_at: dateTimeSchema,
  })
  .meta({ id: "UploadLink" })

const createdUploadLink = uploadLinkRecord
  .extend({
    url: z.url().meta({
      description:
        "URL that takes one file: by tus, by one PUT, or by a multipart POST. Shown once.",
    }),
  })
  .meta({ id: "CreatedUploadLink" })

function isOrigin(text: string): boolean {
  return (
    text === "*" || (URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text))
  )
}

function viewLink(link: UploadLink): z.infer<typeof uploadLinkRecord> {
  const { id, sizeBytesMax, types, origins, fileId, createdAt, expiresAt } = link
  return {
    id,
    size_bytes_max: sizeBytesMax,
    types,
    origins,
    file_id: fileId,
    created_at: toDateTime(createdAt),
    expires_at: toDateTime(expiresAt),
  }
}

async function createLink(c: AppContext) {
  const fields = await readJsonBody(c, newUploadLink)
  const { webhook, metadata, priority, publish } = fields
  // Check the webhook URL when the link is created, not when an upload uses the link.
  readJobProperties(c, { webhook, metadata, priority, publish })
  const secret = toBase64Url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
  const now = Date.now()
  const { fileBytesMax } = c.get("limits")
  const { id: accountId } = c.get("account")
  const link = {
    id: newId(),
    keyId: c.get("key")?.id ?? null,
    secretHash: await sha256Hex(secret),
    sizeBytesMax: Math.min(fields.size_bytes_max ?? fileBytesMax, fileBytesMax),
    types: fields.types,
    origins: fields.origins,
    fields: { webhook, metadata, priority, publish },
    expiresAt: now + fields.expires_in * 1000,
    createdAt: now,
  }
  if (!(await insertUploadLink(c.get("database"), link))) {
    throw new Problem("link_limit_exceeded", TOO_MANY)
  }
  const url = `${getPublicOrigin(c)}/uploads/${readDatabaseNumber(accountId)}/${secret}`
  return { ...viewLink({ ...link, accountId, fileId: null }), url }
}

const TOO_MANY = `An account can have ${UPLOAD_LINKS_MAX} upload links; delete some, or wait until some expire.`

/** Operations of upload links, by which a browser uploads one file without an API key. */
export const uploadLinkOperations: Operation[] = [
  defineOperation({
    ...FACTS,
    method: "post",
    path: PATH,
    operationId: "createUploadLink",
    summary: "Create a link by which a browser uploads one file without a key",
    description:
      "The link takes one file, and opens nothing: its answer has the id of the File. It stays valid when the key that created it is revoked; delete the link to end it.",
    bodies: {
      "application/json": {
        schema: newUploadLink,
        example: { types: ["video/*"], origins: ["https://example.com"], expires_in: 600 },
      },
    },
    answer: { status: 201, description: "The link with its URL.", schema: createdUploadLink },
    errors: [
      "link_limit_exceeded",
      "payload_too_large",
      "request_timeout",
      "unsupported_media_type",
    ],
    async handle(c) {
      return { body: await createLink(c) }
    },
  }),
  defineOperation({
    ...FACTS,
    method: "get",
    path: PATH,
    operationId: "listUploadLinks",
    summary: "List the upload links, newest first",
    answer: { status: 200, description: "The links.", schema: z.array(uploadLinkRecord) },
    async handle(c) {
      return { body: (await listUploadLinks(c.get("database"))).map(viewLink) }
    },
  }),
  defineOperation({
    ...FACTS,
    method: "get",
    path: `${PATH}/{id}`,
    operationId: "getUploadLink",
    summary: "Get an upload link, and the File that used it up",
    answer: { status: 200, description: "The link.", schema: uploadLinkRecord },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const link = await findUploadLink(c.get("database"), readPathResourceId(c, TITLE))
      if (!link) throw notFoundProblem(TITLE)
      return { body: viewLink(link) }
    },
  }),
  defineOperation({
    ...FACTS,
    method: "delete",
    path: `${PATH}/{id}`,
    operationId: "deleteUploadLink",
    summary: "Delete an upload link; a File that came by it stays",
    answer: { status: 200, description: "The link is deleted.", schema: z.object({}) },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const id = readPathResourceId(c, TITLE)
      if (!(await deleteUploadLink(c.get("database"), id))) throw notFoundProblem(TITLE)
      await removeOpenUploadsOfLink(c, id)
      return { body: {} }
    },
  }),
]
