import { isS3Url } from "../../src/contract/s3-url.ts"
import { importTask } from "../../src/contract/tasks/import.ts"
import type { ImportResult, ImportWork } from "../../src/contract/tasks/import.ts"
import { OTHER_PLAN } from "../../src/contract/other-plan.ts"
import { makeDial } from "../egress/dial.ts"
import { callerFailure } from "../failures.ts"
import { formatBytes } from "../tools/format-bytes.ts"
import { UploadLostError } from "../transfer/part-upload.ts"
import { askStore } from "../transfer/web/ask-store.ts"
import { askWeb } from "../transfer/web/ask-web.ts"
import { decodeBody } from "../transfer/web/decode-body.ts"
import { followSource } from "../transfer/web/follow-source.ts"
import { openSource, WEB_LIMITS } from "../transfer/web/open-source.ts"
import type { Ask, WebLimits, WebRequest } from "../transfer/web/open-source.ts"
import { peek } from "../transfer/web/peek.ts"
import { SourceChangedError, SourceError } from "../transfer/web/source-error.ts"
import { importPage } from "./import/import-page.ts"
import { credibleType, HEAD_BYTES, kindOfSource } from "./import/kind-of-source.ts"
import { nameSource } from "./import/source-name.ts"
import { storeFile } from "./import/store-file.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"

export const importRunner = { definition: importTask, run: runImportTask }

/** How often a source is begun from its first byte, since it changed or its upload was lost. */
const BEGINNINGS_MAX = 3
const PERCENT_BEFORE_END = 99
/** An estimate from less than this is not worth reporting. */
const ETA_SECONDS_MIN = 1

type ImportOutcome = TaskOutcome<ImportResult>

/** Brings what a URL names into storage, by what the URL answers: a file as it is, or a page's media. */
export async function runImportTask(
  context: RunContext,
  work: ImportWork,
  limits: WebLimits = WEB_LIMITS,
): Promise<ImportOutcome> {
  const startedMs = performance.now()
  const secondsMax = work.run_seconds_max
  const endsMs = startedMs + secondsMax * 1000
  const deadline = AbortSignal.timeout(secondsMax * 1000)
  context.status.phase = "downloading"
  markProcessStarted(context, "import")
  try {
    return await importSource(context, work, { limits, deadline, endsMs })
  } catch (error) {
    context.signal.throwIfAborted()
    if (deadline.aborted) {
      const message = `The server is too slow: an import may take ${secondsMax} seconds.`
      return callerFailure("too_slow", message)
    }
    if (error instanceof SourceError) return callerFailure(error.code, error.message)
    throw error
  } finally {
    context.status.processingMs += performance.now() - startedMs
  }
}

/** `endsMs` is when the run has to end, which is when `deadline` aborts. */
type Bounds = { limits: WebLimits; deadline: AbortSignal; endsMs: number }

async function importSource(
  context: RunContext,
  work: ImportWork,
  bounds: Bounds,
): Promise<ImportOutcome> {
  for (let beginnings = 1; ; beginnings += 1) {
    const stop = new AbortController()
    try {
      return await importOnce(context, work, { ...bounds, stop })
    } catch (error) {
      const isAnother = error instanceof SourceChangedError || error instanceof UploadLostError
      if (!isAnother) throw error
      if (beginnings < BEGINNINGS_MAX) continue
      const message =
        "The server cut the connection again and again, and does not send the rest of the same file: try again later."
      throw new SourceError("incomplete", message, { cause: error })
    } finally {
      stop.abort(new Error("The import is over."))
    }
  }
}

async function importOnce(
  context: RunContext,
  work: ImportWork,
  { limits, deadline, endsMs, stop }: Bounds & { stop: AbortController },
): Promise<ImportOutcome> {
  const signal = AbortSignal.any([context.signal, deadline, stop.signal])
  const isObject = isS3Url(work.url)
  const ask = isObject ? askStore(context.io) : askOnWeb(context)
  const request: WebRequest = { url: new URL(work.url), ask, signal, limits }
  const answer = await openSource(request)
  const { facts, response } = answer
  const onPosition = reportProgress(context, facts.length)
  const sent = followSource(request, facts, { answer, position: 0, onPosition })
  const { head, whole } = await peek(await decodeBody(sent, facts.codings), HEAD_BYTES)
  if (!isObject && kindOfSource(head, facts.contentType) === "page") {
    stop.abort(new Error("It is a page."))
    return await importPage(context, work, endsMs - performance.now())
  }
  const { bytes_max: bytesMax } = work
  if (facts.codings.length === 0 && (facts.length ?? 0) > bytesMax) throw tooLarge(bytesMax)
  const said = credibleType(head, facts.contentType)
  const named = nameSource(answer.url, response.headers["content-disposition"], said)
  const contentType = credibleType(head, named.contentType) ?? "application/octet-stream"
  const source = {
    asked: request.url,
    answer,
    body: limit(whole, 0, bytesMax),
    openRest(position: number) {
      const rest = followSource(request, facts, { answer: null, position, onPosition })
      return limit(rest, position, bytesMax)
    },
    contentType,
    stop,
  }
  const stored = await storeFile({ io: context.io, signal }, source)
  const { sizeBytes: size_bytes, isResumable: is_resumable, sha256 } = stored
  const result = { name: named.name, size_bytes, content_type: contentType, is_resumable }
  return { result: { kind: "import", ...result, ...(sha256 !== undefined && { sha256 }) } }
}

function askOnWeb({ settings }: RunContext): Ask {
  const { allowedHosts, proxy, sites } = settings.egress
  return askWeb(makeDial({ allowedHosts, upstream: proxy }), sites)
}

/** Ends a body that has more bytes than a file may have. */
async function* limit(
  body: AsyncIterable<Uint8Array>,
  position: number,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  let at = position
  for await (const chunk of body) {
    at += chunk.length
    if (at > bytesMax) throw tooLarge(bytesMax)
    yield chunk
  }
}

function tooLarge(bytesMax: number): SourceError {
  const message = `The file is too large: at most ${formatBytes(bytesMax)} may be imported: take a smaller one, or ${OTHER_PLAN}.`
  return new SourceError("too_large", message)
}

/** Reports how much has been read, where the length is known. */
function reportProgress(context: RunContext, length: number | null): (position: number) => void {
  const startedMs = performance.now()
  let first: number | null = null
  return (position) => {
    if (length === null) return
    first ??= position
    const seconds = (performance.now() - startedMs) / 1000
    const bytesPerSecond = (position - first) / seconds
    const hasEta = seconds >= ETA_SECONDS_MIN && bytesPerSecond > 0
    const etaSeconds = hasEta ? Math.round((length - position) / bytesPerSecond) : null
    context.reporter.progress(Math.min((position / length) * 100, PERCENT_BEFORE_END), etaSeconds)
  }
}
