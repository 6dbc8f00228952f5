import { z } from "zod"
import { metadataTask } from "../../contract/tasks/metadata.ts"
import { NO_QUERY, defineOperation } from "../output/operation.ts"
import type { Operation, Reply } from "../output/operation.ts"
import { outputDownloadOperation } from "../output/output-download.ts"
import { invalidFieldsProblem } from "../output/problem.ts"
import { getPublicOrigin, readJson } from "../input/request.ts"
import type { AppContext } from "../context.ts"
import { requireTools } from "../input/required-tools.ts"
import { urlNotAllowedFault, readWebImportSource } from "../input/user-urls.ts"
import { fetchKind } from "../../kinds/fetch/kind.ts"
import { isMediaExpired } from "../../kinds/fetch/record.ts"
import { EXAMPLE_REQUEST, mediaUrl } from "../../kinds/fetch/request.ts"
import { metadataRecord } from "../../kinds/metadata/kind.ts"
import { LOOKUP_REUSE_MS, lookUpMetadata } from "../../jobs/look-up.ts"
import { LOOKUP_PROBLEM_CODES, lookupProblem } from "./lookup-problem.ts"

const { path } = fetchKind

const METADATA_PATH = `/${path}/metadata`
const METADATA = {
  description:
    "The lookup downloads no media and makes no fetch. Its answer is reused for a minute. A 422 names the fields to correct; an error of the site is a 502, and a timeout is a 504.",
  tag: path,
  answer: {
    status: 200 as const,
    description: "Metadata of the page's video; a field is null if the page lacks it.",
    schema: metadataRecord,
    headers: { "Cache-Control": "Time for which the answer is reused." },
  },
}

const EXAMPLE_URL = { url: EXAMPLE_REQUEST.url }

const metadataRequest = z
  .strictObject({ url: mediaUrl }, "expected an object of fields")
  .meta({ id: "MetadataRequest" })

const readMetadata = defineOperation({
  ...METADATA,
  method: "get",
  path: METADATA_PATH,
  operationId: "getMetadata",
  summary: "Look up the metadata of a page's video",
  query: z.object({ url: mediaUrl }),
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
  query: NO_QUERY,
  bodies: { "application/json": { schema: metadataRequest, example: EXAMPLE_URL } },
  errors: [
    ...LOOKUP_PROBLEM_CODES,
    "payload_too_large",
    "request_timeout",
    "unsupported_media_type",
  ],
  handle: async (c) => await answerMetadata(c, (await readJson(c, metadataRequest)).url),
})

const download = outputDownloadOperation(fetchKind, {
  operationId: "downloadFetch",
  summary: "Get a signed link to a fetched file",
  exampleName: "clip.mp4",
  unavailableMessages: {
    pending: "The fetch has not ended; wait for its end.",
    failed: "The fetch failed and has no file",
    reason: "the fetch failed",
  },
  expiry: {
    isExpired: isMediaExpired,
    message: "The retention of the fetched file has ended: fetch the URL again.",
  },
})

/** Operations of fetches (downloads from web pages) in addition to those of every job kind. */
export const fetchOperations: readonly Operation[] = [readMetadata, readMetadataOfLongUrl, download]

async function answerMetadata(
  c: AppContext,
  text: string,
): Promise<Reply<z.output<typeof metadataRecord>>> {
  const read = readWebImportSource(c, text)
  if ("error" in read) throw invalidFieldsProblem([urlNotAllowedFault("url", read.error)])
  const request = {
    accountId: c.get("account").id,
    creator: { keyId: c.get("key")?.id ?? null, requestId: c.get("requestId") },
    origin: getPublicOrigin(c),
    url: read.url,
    admit: async () => await requireTools(c, [metadataTask]),
  }
  const lookup = lookUpMetadata(c.env, c.executionCtx, request)
  // The lookup must end its job even if the client disconnects.
  c.executionCtx.waitUntil(lookup.catch(() => undefined))
  const job = await lookup
  const metadata = job?.result?.metadata
  if (!job || !metadata) throw lookupProblem(job)
  const freshMs = LOOKUP_REUSE_MS - Math.abs(Date.now() - (job.completedAt ?? 0))
  const seconds = Math.max(0, Math.floor(freshMs / 1000))
  return { body: metadata, headers: { "cache-control": `private, max-age=${seconds}` } }
}
