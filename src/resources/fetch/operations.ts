import { z } from "zod"
import { metadataTask } from "../../contract/tasks/metadata.ts"
import { NO_QUERY, operation } from "../../http/operation.ts"
import type { Operation, Reply } from "../../http/operation.ts"
import { outputDownload } from "../../http/output-download.ts"
import { unprocessables } from "../../http/problem.ts"
import { publicOrigin, readJson } from "../../http/request.ts"
import type { AppContext } from "../../http/request.ts"
import { requireTools } from "../../http/required-tools.ts"
import { notAllowed, readWebImport } from "../../http/user-urls.ts"
import { fetch as fetchKind } from "../../kinds/fetch/kind.ts"
import { isExpired } from "../../kinds/fetch/record.ts"
import { EXAMPLE, mediaUrl } from "../../kinds/fetch/request.ts"
import { metadataRecord } from "../../kinds/metadata/kind.ts"
import { FRESH_MS, lookUp } from "../../pipeline/lookups/lookup.ts"
import { LOOKUP_PROBLEMS, lookupProblem } from "./lookup-problem.ts"

const { path } = fetchKind

const METADATA_PATH = `/${path}/metadata`
const METADATA = {
  description:
    "Nothing is downloaded, and no fetch is made. What a page said answers for a minute. A 422 names what the caller can change; errors of the site are 502, and what took too long is 504.",
  tag: path,
  answer: {
    status: 200 as const,
    description: "What the page says of its video; null where it does not say it.",
    schema: metadataRecord,
    headers: { "Cache-Control": "How long it is the answer." },
  },
}

const EXAMPLE_URL = { url: EXAMPLE.url }

const metadataRequest = z
  .strictObject({ url: mediaUrl }, "expected an object of fields")
  .meta({ id: "MetadataRequest" })

const readMetadata = operation({
  ...METADATA,
  method: "get",
  path: METADATA_PATH,
  operationId: "getMetadata",
  summary: "Say what the video of a page is",
  query: z.object({ url: mediaUrl }),
  errors: LOOKUP_PROBLEMS,
  example: EXAMPLE_URL,
  handle: async (c, { url }) => await answerMetadata(c, url),
})

const readMetadataOfLongUrl = operation({
  ...METADATA,
  method: "post",
  path: METADATA_PATH,
  scope: "read",
  operationId: "postMetadata",
  summary: "Say what the video of a page is, whose URL may be long",
  query: NO_QUERY,
  bodies: { "application/json": { schema: metadataRequest, example: EXAMPLE_URL } },
  errors: [...LOOKUP_PROBLEMS, "payload_too_large", "request_timeout", "unsupported_media_type"],
  handle: async (c) => await answerMetadata(c, (await readJson(c, metadataRequest)).url),
})

const download = outputDownload(fetchKind, {
  operationId: "downloadFetch",
  summary: "Get a short-lived signed link to what was fetched",
  exampleName: "clip.mp4",
  absent: {
    pending: "The media is still being fetched; wait for its end.",
    failed: "Nothing was fetched, so there is no such file",
    reason: "the fetch failed",
  },
  expiry: {
    isExpired,
    message: "What was fetched is kept for some days only, and they are over: fetch it again.",
  },
})

/** The operations of fetches beside those that every kind has. */
export const fetchOperations: readonly Operation[] = [readMetadata, readMetadataOfLongUrl, download]

async function answerMetadata(
  c: AppContext,
  text: string,
): Promise<Reply<z.output<typeof metadataRecord>>> {
  const read = readWebImport(c, text)
  if ("error" in read) throw unprocessables([notAllowed("url", read.error)])
  const asked = {
    accountId: c.get("account").id,
    creator: { keyId: c.get("key")?.id ?? null, requestId: c.get("requestId") },
    origin: publicOrigin(c),
    url: read.url,
    admit: async () => await requireTools(c, [metadataTask]),
  }
  const lookup = lookUp(c.env, c.executionCtx, asked)
  // It is ended in time, also where its caller hangs up.
  c.executionCtx.waitUntil(lookup.catch(() => undefined))
  const job = await lookup
  const found = job?.result?.metadata
  if (!job || !found) throw lookupProblem(job)
  const freshMs = FRESH_MS - Math.abs(Date.now() - (job.completedAt ?? 0))
  const seconds = Math.max(0, Math.floor(freshMs / 1000))
  return { body: found, headers: { "cache-control": `private, max-age=${seconds}` } }
}
