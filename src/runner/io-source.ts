import { z } from "zod"
import { readTextUpTo } from "../bounded-text.ts"
import { encodeKey, readS3Url } from "../contract/s3-url.ts"
import type { S3Object } from "../contract/s3-url.ts"
import {
  SOURCE_CODE_HEADER,
  SOURCE_HEADER,
  SOURCE_KEY_HEADER,
  SOURCE_STATUS_HEADER,
} from "../contract/source-answer.ts"
import type { SourceAnswer } from "../contract/source-answer.ts"
import { importTask } from "../contract/tasks/import.ts"
import { logError } from "../log.ts"
import { readS3Sources } from "../s3-sources.ts"
import type { S3Source } from "../s3-sources.ts"
import { databaseOf } from "../storage/database.ts"
import { findWork } from "../storage/tasks.ts"
import { askStore } from "./ask-store.ts"
import { say } from "./io-context.ts"
import type { IoContext } from "./io-context.ts"

/** The URL of an import as it stands: `importTask` trims it, and a key may end in a space. */
const importedUrl = z.object({ kind: z.literal(importTask.name), url: z.string() })

/** What of a store's answer is passed on: what says which bytes they are. */
const PASSED_ON = [
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "date",
  "etag",
  "last-modified",
]

/** Answers that are about a version or a range of the object, which is there. */
const FOUND = [200, 206, 412, 416]
/** Answers after which the object may be there by another key: stores hide what they have by 403. */
const PERHAPS_ABSENT = [403, 404]
const ERROR_BYTES_MAX = 16 * 1024
/** Failed Dependency: no status that the runner reads as what became of its own request. */
const FAILED_DEPENDENCY = 424

/**
 * Streams the object that the running task is to bring in. The runner names none: it is the one of
 * the task's own work, so that no run reads any other.
 */
export async function sendSource(c: IoContext): Promise<Response> {
  const run = c.get("run")
  const work = await findWork(databaseOf(c.env, run.accountId), run)
  if (!work) return say(410, "gone")
  const { data } = importedUrl.safeParse(work)
  const object = data && readS3Url(data.url)
  if (!object || "error" in object) return say(404, "no such source")
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
  return refused ? await passRefusal(refused, source) : say(404, "no such source")
}

/** The range, and the version that it is wanted of, in the words that all stores know. */
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
  const found: SourceAnswer = "found"
  const headers = new Headers({ [SOURCE_HEADER]: found, [SOURCE_KEY_HEADER]: encodeKey(key) })
  for (const name of PASSED_ON) {
    const value = answer.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  // Some stores send a range as if it were the whole.
  const status = answer.status === 200 && headers.has("content-range") ? 206 : answer.status
  if (status < 300) return new Response(answer.body, { status, headers })
  headers.delete("content-length")
  await answer.body?.cancel()
  return new Response(null, { status, headers })
}

/** Tells the runner why the store sends nothing, and the operator, who alone can mend some of it. */
async function passRefusal(answer: Response, { bucket }: S3Source): Promise<Response> {
  const { status } = answer
  const text = await readTextUpTo(answer.body, ERROR_BYTES_MAX).catch(() => null)
  // The rest of it may name the key id, and what was signed.
  const code = /<Code>([A-Za-z]{1,64})<\/Code>/.exec(text ?? "")?.[1]
  if (status !== 404) logError("source.refused", { bucket, status, ...(code && { code }) })
  const retryAfter = answer.headers.get("retry-after")
  return answerWithout("refused", {
    [SOURCE_STATUS_HEADER]: String(status),
    ...(code && { [SOURCE_CODE_HEADER]: code }),
    ...(retryAfter !== null && { "retry-after": retryAfter }),
  })
}

function answerWithout(meaning: SourceAnswer, more: Record<string, string> = {}): Response {
  const headers = { [SOURCE_HEADER]: meaning, ...more }
  return new Response(null, { status: FAILED_DEPENDENCY, headers })
}
