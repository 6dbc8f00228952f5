import { z } from "zod"
import { readBoundedText } from "../platform/bounded-text.ts"
import { encodeS3Key, parseS3Url, encodeUriSegment } from "../contract/urls/s3-url.ts"
import type { S3Object } from "../contract/urls/s3-url.ts"
import {
  S3_SOURCE_ERROR_CODE_HEADER,
  S3_SOURCE_OUTCOME_HEADER,
  S3_SOURCE_KEY_HEADER,
  S3_SOURCE_STATUS_HEADER,
} from "../contract/source-answer.ts"
import type { S3SourceOutcome } from "../contract/source-answer.ts"
import { importTaskDefinition } from "../contract/tasks/import.ts"
import { logError } from "../platform/log.ts"
import { readS3Sources } from "../bindings/s3-sources.ts"
import type { S3Source } from "../bindings/s3-sources.ts"
import { openAccountDatabases } from "../db/database.ts"
import { findRunningTaskWork } from "../db/jobs/tasks.ts"
import { respondWithMessage } from "./io-context.ts"
import type { IoContext } from "./io-context.ts"
import { AwsV4Signer } from "aws4fetch"
import { OUTBOUND_ERROR_HEADER } from "../contract/protocol.ts"
import type { Env } from "../bindings/env.ts"

/**
 * Schema of an import's URL exactly as stored. The schema of `importTaskDefinition` would trim the
 * URL, but an S3 object key may end in a space.
 */
const importedUrl = z.object({ kind: z.literal(importTaskDefinition.name), url: z.string() })

/** Headers that are copied from the response of the S3 service to the response for the runner. */
const PASSED_ON = [
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "date",
  "etag",
  "last-modified",
]

/** HTTP statuses that show that the S3 object exists. */
const FOUND = [200, 206, 412, 416]
/**
 * HTTP statuses after which the next spelling of the object key is tried. S3 services respond 403
 * for a missing object if the caller may not list the bucket.
 */
const PERHAPS_ABSENT = [403, 404]
const ERROR_BYTES_MAX = 16 * 1024
/**
 * HTTP status Failed Dependency. The runner cannot mistake this status for a failure of its own
 * request.
 */
const FAILED_DEPENDENCY = 424

/**
 * Streams the S3 object that the running task imports. Takes the URL from the task in D1 and not
 * from the runner, so that a run can read no other object.
 */
export async function streamS3Object(c: IoContext): Promise<Response> {
  const run = c.get("run")
  const work = await findRunningTaskWork(openAccountDatabases(c.env, run.accountId), run)
  if (!work) return respondWithMessage(410, "gone")
  const { data } = importedUrl.safeParse(work)
  const object = data && parseS3Url(data.url)
  if (!object || "error" in object) return respondWithMessage(404, "no such source")
  const sources = readS3Sources(c.env.S3_SOURCES)
  const source = sources.find(({ bucket }) => bucket === object.bucket)
  if (!source) return answerWithout("unlisted")
  return await sendObject(c, source, object)
}

async function sendObject(c: IoContext, source: S3Source, { keys }: S3Object): Promise<Response> {
  const headers = conditionsOf(c)
  let refused: Response | null = null
  for (const key of keys) {
    const answer = await askStore(c.env, source, key, headers)
    if (!answer) {
      await refused?.body?.cancel()
      logError("source.unreachable", { bucket: source.bucket })
      return answerWithout("unreachable")
    }
    if (FOUND.includes(answer.status)) {
      await refused?.body?.cancel()
      return await answerWith(answer, key)
    }
    if (refused) await answer.body?.cancel()
    refused ??= answer
    if (!PERHAPS_ABSENT.includes(answer.status)) break
  }
  return refused ? await passRefusal(refused, source) : respondWithMessage(404, "no such source")
}

/**
 * Returns headers for the same range and version of the object as in a request. Replaces `if-range`
 * by `if-match` or `if-unmodified-since`, which all S3 services understand.
 */
function conditionsOf(c: IoContext): Record<string, string> {
  const range = c.req.header("range")
  const version = c.req.header("if-range")
  return {
    ...(range !== undefined && { range }),
    ...(version?.startsWith('"') && { "if-match": version }),
    ...(version !== undefined && !version.startsWith('"') && { "if-unmodified-since": version }),
  }
}

async function answerWith(answer: Response, key: string): Promise<Response> {
  const meaning: S3SourceOutcome = "found"
  const headers = new Headers({
    [S3_SOURCE_OUTCOME_HEADER]: meaning,
    [S3_SOURCE_KEY_HEADER]: encodeS3Key(key),
  })
  for (const name of PASSED_ON) {
    const value = answer.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  // Responds 206 to a range request even if the S3 service sent status 200 with a `content-range`.
  const status = answer.status === 200 && headers.has("content-range") ? 206 : answer.status
  if (status < 300) return new Response(answer.body, { status, headers })
  headers.delete("content-length")
  await answer.body?.cancel()
  return new Response(null, { status, headers })
}

/**
 * Responds to the runner with the error status of the S3 service in a header. Also logs the error,
 * because the operator can fix some causes.
 */
async function passRefusal(answer: Response, { bucket }: S3Source): Promise<Response> {
  const { status } = answer
  const text = await readBoundedText(answer.body, ERROR_BYTES_MAX).catch(() => null)
  // Reads only the error code, because the rest of the body may contain the access key id and the
  // signed text.
  const code = /<Code>([A-Za-z]{1,64})<\/Code>/.exec(text ?? "")?.[1]
  if (status !== 404) logError("source.refused", { bucket, status, ...(code && { code }) })
  const retryAfter = answer.headers.get("retry-after")
  return answerWithout("refused", {
    [S3_SOURCE_STATUS_HEADER]: String(status),
    ...(code && { [S3_SOURCE_ERROR_CODE_HEADER]: code }),
    ...(retryAfter !== null && { "retry-after": retryAfter }),
  })
}

function answerWithout(meaning: S3SourceOutcome, more: Record<string, string> = {}): Response {
  const headers = { [S3_SOURCE_OUTCOME_HEADER]: meaning, ...more }
  return new Response(null, { status: FAILED_DEPENDENCY, headers })
}

/**
 * Requests an object by its exact key with the credentials of its bucket. The signature covers
 * `headers` too. Follows no redirect, because only the operator's endpoint may get the signature.
 * Returns null if the S3 service does not respond.
 */
async function askStore(
  env: Env,
  { endpoint, bucket, region, access_key_id, secret_access_key }: S3Source,
  key: string,
  headers: Record<string, string>,
): Promise<Response | null> {
  const signer = new AwsV4Signer({
    method: "GET",
    url: `${endpoint.replace(/\/+$/, "")}/${encodeUriSegment(bucket)}/${encodeS3Key(key)}`,
    headers,
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    service: "s3",
    region,
  })
  const signed = await signer.sign()
  // Adds `accept-encoding` after the signature, because the transport may replace the value of this
  // header, and a signed header must not change.
  signed.headers.set("accept-encoding", "identity")
  const request = new Request(signed.url, { headers: signed.headers, redirect: "manual" })
  try {
    const answer = env.S3 ? await env.S3.fetch(request) : await fetch(request)
    if (!answer.headers.has(OUTBOUND_ERROR_HEADER)) return answer
    await answer.body?.cancel()
    return null
  } catch {
    // Drops the error, because the error's message contains the operator's endpoint.
    return null
  }
}
