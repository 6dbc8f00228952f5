import { z } from "zod"
import { EXAMPLE_ID } from "../../../platform/ids.ts"
import { getBaseUrl } from "../../input/request.ts"
import { LIMIT_PROBLEM_CODES } from "../../output/limit-problem.ts"
import { emptyQuerySchema, defineOperation } from "../../output/operation.ts"
import type { Operation } from "../../output/operation.ts"
import {
  createUpload,
  deleteUpload,
  listUploads,
  patchUpload,
  sendUploadState,
  uploadRecordSchema,
} from "./tus.ts"
import { TUS_BODY_MEDIA_TYPE } from "./tus-headers.ts"

const PATH = "/uploads"
const FACTS = { tag: "uploads", query: emptyQuerySchema } as const
const EXAMPLE = { id: EXAMPLE_ID }
const EXAMPLE_BYTES = "(the bytes)"
const TUS = { "Tus-Resumable": "1.0.0" } as const
const BYTES = {
  [TUS_BODY_MEDIA_TYPE]: {
    schema: z.string().meta({ override: { type: "string", format: "binary" } }),
    example: EXAMPLE_BYTES,
  },
}
const PROGRESS_HEADERS = {
  "Upload-Offset": "Number of bytes that are stored.",
  "Upload-Expires": "Time at which the service removes the upload, unless more bytes come.",
  "Content-Location": "URL of the File, once all bytes are stored.",
}
const BYTES_ERRORS = [
  "checksum_mismatch",
  "not_found",
  "payload_too_large",
  "precondition_failed",
  "request_timeout",
  "tool_missing",
  "too_many_uploads",
  "unsupported_media_type",
  "upload_taken_over",
] as const

/** Operations of resumable uploads, which follow the tus protocol. */
export const uploadOperations: Operation[] = [
  defineOperation({
    ...FACTS,
    method: "get",
    path: PATH,
    operationId: "listUploads",
    summary: "List the unfinished uploads, newest first",
    answer: { status: 200, description: "The uploads.", schema: z.array(uploadRecordSchema) },
    handle: listUploads,
  }),
  defineOperation({
    ...FACTS,
    method: "post",
    path: PATH,
    operationId: "createUpload",
    summary: "Create a resumable upload by tus 1.0, with or without its first bytes",
    description:
      "Any client of tus 1.0 works. PATCH the bytes to the URL of `Location`; after a cut, HEAD tells the offset at which to continue. Once all bytes are stored, the upload is a File with the same id. An upload without new bytes is removed after 24 hours.",
    headers: ["Tus-Resumable", "Upload-Length", "Upload-Metadata", "Upload-Checksum"],
    requiredHeaders: { ...TUS, "Upload-Length": String(2 * EXAMPLE_BYTES.length) },
    bodies: BYTES,
    isBodyOptional: true,
    answer: {
      status: 201,
      description: "The upload.",
      schema: uploadRecordSchema,
      headers: { Location: "URL of the upload.", ...PROGRESS_HEADERS },
    },
    errors: [...LIMIT_PROBLEM_CODES, ...BYTES_ERRORS],
    async handle(c) {
      return await createUpload(c, `${getBaseUrl(c)}${PATH}`)
    },
  }),
  defineOperation({
    ...FACTS,
    method: "get",
    path: `${PATH}/{id}`,
    operationId: "getUpload",
    summary: "Get the offset of an upload; HEAD has the same headers",
    headers: ["Tus-Resumable"],
    answer: {
      status: 200,
      description: "The upload.",
      schema: uploadRecordSchema,
      headers: {
        ...PROGRESS_HEADERS,
        "Upload-Length": "Size of the file in bytes.",
        "Upload-Metadata": "The metadata as the client sent it.",
      },
    },
    errors: [...LIMIT_PROBLEM_CODES, "not_found", "precondition_failed", "tool_missing"],
    example: EXAMPLE,
    handle: sendUploadState,
  }),
  defineOperation({
    ...FACTS,
    method: "patch",
    path: `${PATH}/{id}`,
    operationId: "appendToUpload",
    summary: "Append bytes to an upload at its offset",
    description:
      "A PATCH takes the upload over from a PATCH that is still open, which then ends with 423. Bytes that came before a cut are kept, unless `Upload-Checksum` was sent.",
    headers: ["Tus-Resumable", "Upload-Offset", "Upload-Checksum"],
    requiredHeaders: { ...TUS, "Upload-Offset": String(EXAMPLE_BYTES.length) },
    bodies: BYTES,
    answer: {
      status: 204,
      description: "The bytes are stored.",
      schema: null,
      headers: PROGRESS_HEADERS,
    },
    errors: [...LIMIT_PROBLEM_CODES, ...BYTES_ERRORS, "offset_conflict"],
    example: EXAMPLE,
    handle: patchUpload,
  }),
  defineOperation({
    ...FACTS,
    method: "delete",
    path: `${PATH}/{id}`,
    operationId: "deleteUpload",
    summary: "Delete an unfinished upload with its bytes",
    headers: ["Tus-Resumable"],
    requiredHeaders: TUS,
    answer: { status: 204, description: "The upload is deleted.", schema: null },
    errors: ["already_final", "not_found", "precondition_failed"],
    example: EXAMPLE,
    handle: deleteUpload,
  }),
]
