import { z } from "zod"
import { metadataTaskDefinition } from "../../contract/tasks/metadata.ts"
import { emptyQuerySchema, defineOperation } from "../output/operation.ts"
import type { Operation, OperationReply } from "../output/operation.ts"
import { makeOutputDownloadOperation } from "../output/output-download.ts"
import { invalidFieldsProblem } from "../output/problem.ts"
import { getPublicOrigin, readJsonBody } from "../input/request.ts"
import type { AppContext } from "../context.ts"
import { requireTools } from "../input/required-tools.ts"
import { urlNotAllowedFault, parseWebImportSource } from "../input/user-urls.ts"
import { fetchKind } from "../../kinds/fetch/kind.ts"
import { areFetchedMediaExpired } from "../../kinds/fetch/record.ts"
import { FETCH_EXAMPLE_REQUEST, mediaUrlSchema } from "../../kinds/fetch/request.ts"
import { metadataRecordSchema } from "../../kinds/metadata/kind.ts"
import { LOOKUP_REUSE_MS, lookUpPageMetadata } from "../../jobs/look-up.ts"
import { LOOKUP_PROBLEM_CODES, metadataLookupProblem } from "./lookup-problem.ts"

const { path } = fetchKind

const METADATA_PATH = `/${path}/metadata`
const METADATA = {
  description:
    "The lookup downloads no media and makes no fetch. Its answer is reused for a minute. A 422 names the fields to correct; an error of the site is a 502, and a timeout is a 504.",
  tag: path,
  answer: {
    status: 200 as const,
    description: "Metadata of the page's video; a field is null if the page lacks it.",
    schema: metadataRecordSchema,
    headers: { "Cache-Control": "Time for which the answer is reused." },
  },
}

const EXAMPLE_URL = { url: FETCH_EXAMPLE_REQUEST.url }

const metadataRequest = z
  .strictObject({ url: mediaUrlSchema }, "expected an object of fields")
  .meta({ id: "MetadataRequest" })

const readMetadata = defineOperation({
  ...METADATA,
  method: "get",
  path: METADATA_PATH,
  operationId: "getMetadata",
  summary: "Look up the metadata of a page's video",
  query: z.object({ url: mediaUrlSchema }),
  errors: LOOKUP_PROBLEM_CODES,
  example: EXAMPLE_URL,
  handle: async (c, { url }) => await answerMetadata(c, url),
})

const readMetadataOfLongUrl = defineOperation({
  ...METADATA,
  method: "post",
  path: METADATA_PATH,
  scope: "read",
  operationId: "postMetadata",
  summary: "Look up the metadata of a page's video, with the URL in the body",
  query: emptyQuerySchema,
  bodies: { "application/json": { schema: metadataRequest, example: EXAMPLE_URL } },
  errors: [
    ...LOOKUP_PROBLEM_CODES,
    "payload_too_large",
    "request_timeout",
    "unsupported_media_type",
  ],
  handle: async (c) => await answerMetadata(c, (await readJsonBody(c, metadataRequest)).url),
})

const download = makeOutputDownloadOperation(fetchKind, {
  operationId: "downloadFetch",
  summary: "Get a signed link to a fetched file",
  exampleName: "clip.mp4",
  unavailableMessages: {
    pending: "The fetch has not ended; wait for its end.",
    failed: "The fetch failed and has no file",
    reason: "the fetch failed",
  },
  expiry: {
    isExpired: areFetchedMediaExpired,
    message: "The retention of the fetched file has ended: fetch the URL again.",
  },
})

/** Operations of fetches (downloads from web pages) in addition to those of every job kind. */
export const fetchOperations: readonly Operation[] = [readMetadata, readMetadataOfLongUrl, download]

async function answerMetadata(
  c: AppContext,
  text: string,
): Promise<OperationReply<z.output<typeof metadataRecordSchema>>> {
  const read = parseWebImportSource(c, text)
  if ("error" in read) throw invalidFieldsProblem([urlNotAllowedFault("url", read.error)])
  const request = {
    accountId: c.get("account").id,
    creator: { keyId: c.get("key")?.id ?? null, requestId: c.get("requestId") },
    origin: getPublicOrigin(c),
    url: read.url,
    admit: async () => await requireTools(c, [metadataTaskDefinition]),
  }
  const lookup = lookUpPageMetadata(c.env, c.executionCtx, request)
  // Let the lookup continue if the client disconnects, so that its job ends.
  c.executionCtx.waitUntil(lookup.catch(() => undefined))
  const job = await lookup
  const metadata = job?.result?.metadata
  if (!job || !metadata) throw metadataLookupProblem(job)
  const freshMs = LOOKUP_REUSE_MS - Math.abs(Date.now() - (job.completedAt ?? 0))
  const seconds = Math.max(0, Math.floor(freshMs / 1000))
  return { body: metadata, headers: { "cache-control": `private, max-age=${seconds}` } }
}
