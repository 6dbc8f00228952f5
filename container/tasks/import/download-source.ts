import { isS3Url } from "../../../src/contract/urls/s3-url.ts"
import { PLAN_LIMIT_REMEDY } from "../../../src/contract/plan-limit-remedy.ts"
import { createDialFunction } from "../../egress/dial.ts"
import { createCallerFailure } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import { FIRST_BYTES_LENGTH } from "../../tools/first-bytes.ts"
import { formatBytes } from "../../tools/format-bytes.ts"
import { UploadLostError } from "../../transfer/part-upload.ts"
import { createS3Requester } from "../../transfer/web/request-s3-object.ts"
import { createWebRequester } from "../../transfer/web/request-web-source.ts"
import { decodeContentCodings } from "../../transfer/web/decode-body.ts"
import { downloadSourceBytes } from "../../transfer/web/download-source-bytes.ts"
import { requestSource, SOURCE_LIMITS } from "../../transfer/web/request-source.ts"
import type {
  SourceRequester,
  SourceLimits,
  SourceRequest,
} from "../../transfer/web/request-source.ts"
import { peekBodyStart } from "../../transfer/web/peek-body.ts"
import { SourceChangedError, SourceError } from "../../transfer/web/source-error.ts"
import { markProcessStarted } from "../run-context.ts"
import type { RunContext } from "../run-context.ts"
import { selectCredibleMediaType, detectSourceKind } from "./source-kind.ts"
import { readSourceNameAndType } from "./source-name.ts"
import type { SourceToStore } from "./store-file.ts"

/**
 * Maximum number of attempts to download a source from its first byte. A new attempt is made if the
 * source has changed, or if the upload of the downloaded data was lost.
 */
const DOWNLOADS_MAX = 3
const PERCENT_BEFORE_END = 99
/** Time after the start of a download from which on its remaining time is estimated, in seconds. */
const ETA_SECONDS_MIN = 1

/**
 * URL to download, and limits of the download. `has_headers` means that the caller gave headers for
 * the request.
 */
type DownloadWork = {
  url: string
  has_headers?: true | undefined
  bytes_max: number
  run_seconds_max: number
}

/**
 * Callbacks that process the response of a URL: `useFile` for a file, and `usePage` for a web page.
 * A web page is an error if `usePage` is missing or the caller gave headers.
 */
type SourceUses<Outcome> = {
  limits?: SourceLimits
  useFile: (source: SourceToStore & { name: string }, signal: AbortSignal) => Promise<Outcome>
  usePage?: (timeLimitMs: number) => Promise<Outcome>
}

/**
 * Downloads a URL within limits of size and time. The first bytes decide whether the source is a
 * file or a web page. If the source changes during the download, the download starts again at the
 * first byte.
 */
export async function downloadSource<Outcome>(
  context: RunContext,
  work: DownloadWork,
  uses: SourceUses<Outcome>,
): Promise<Outcome | TaskFailure> {
  const startedMs = performance.now()
  const secondsMax = work.run_seconds_max
  const endsMs = startedMs + secondsMax * 1000
  const deadline = AbortSignal.timeout(secondsMax * 1000)
  context.status.phase = "downloading"
  markProcessStarted(context, "import")
  try {
    return await downloadWithRestarts(context, work, { uses, deadline, endsMs })
  } catch (error) {
    context.signal.throwIfAborted()
    if (deadline.aborted) {
      const message = `The server is too slow: a download may take ${secondsMax} seconds.`
      return createCallerFailure("too_slow", message)
    }
    if (error instanceof SourceError) return createCallerFailure(error.code, error.message)
    throw error
  } finally {
    context.status.processingMs += performance.now() - startedMs
  }
}

/**
 * Callbacks and time limit of a download. `deadline` aborts at the end of the time limit, and
 * `endsMs` is the same moment as a value of performance.now().
 */
type Download<Outcome> = { uses: SourceUses<Outcome>; deadline: AbortSignal; endsMs: number }

async function downloadWithRestarts<Outcome>(
  context: RunContext,
  work: DownloadWork,
  download: Download<Outcome>,
): Promise<Outcome> {
  for (let downloads = 1; ; downloads += 1) {
    const stop = new AbortController()
    try {
      return await downloadOnce(context, work, { ...download, stop })
    } catch (error) {
      const isAnother = error instanceof SourceChangedError || error instanceof UploadLostError
      if (!isAnother) throw error
      if (downloads < DOWNLOADS_MAX) continue
      const message =
        "The server repeatedly closed the connection, and does not send the rest of the same file: try again later."
      throw new SourceError("incomplete", message, { cause: error })
    } finally {
      stop.abort(new Error("The import is over."))
    }
  }
}

async function downloadOnce<Outcome>(
  context: RunContext,
  work: DownloadWork,
  { uses, deadline, endsMs, stop }: Download<Outcome> & { stop: AbortController },
): Promise<Outcome> {
  const signal = AbortSignal.any([context.signal, deadline, stop.signal])
  const isObject = isS3Url(work.url)
  const ask = isObject ? createS3Requester(context.io) : requesterForContext(context)
  const { limits = SOURCE_LIMITS, usePage } = uses
  const request: SourceRequest = { url: new URL(work.url), send: ask, signal, limits }
  const answer = await requestSource(request)
  const { facts, response } = answer
  const onPosition = reportProgress(context, facts.length)
  const encodedBody = downloadSourceBytes(request, facts, { answer, position: 0, onPosition })
  const { head, whole } = await peekBodyStart(
    await decodeContentCodings(encodedBody, facts.codings),
    FIRST_BYTES_LENGTH,
  )
  if (!isObject && detectSourceKind(head, facts.contentType) === "page") {
    if (work.has_headers || !usePage) throw notAFile()
    stop.abort(new Error("It is a page."))
    return await usePage(endsMs - performance.now())
  }
  const { bytes_max: bytesMax } = work
  if (facts.codings.length === 0 && (facts.length ?? 0) > bytesMax) throw tooLarge(bytesMax)
  const declaredType = selectCredibleMediaType(head, facts.contentType)
  const disposition = response.headers["content-disposition"]
  const named = readSourceNameAndType(answer.url, disposition, declaredType)
  const source = {
    requestUrl: request.url,
    answer,
    body: limit(whole, 0, bytesMax),
    openRest(position: number) {
      const rest = downloadSourceBytes(request, facts, { answer: null, position, onPosition })
      return limit(rest, position, bytesMax)
    },
    name: named.name,
    contentType: selectCredibleMediaType(head, named.contentType) ?? "application/octet-stream",
    stop,
  }
  return await uses.useFile(source, signal)
}

function requesterForContext({ settings, order }: RunContext): SourceRequester {
  const { allowedHosts, proxy, sites } = settings.egress
  return createWebRequester(
    createDialFunction({ allowedHosts, upstream: proxy }),
    sites,
    order.secrets?.headers,
  )
}

function notAFile(): SourceError {
  const message =
    "The server sent a web page or a playlist manifest, but a URL with headers must be that of a file: check the URL and the headers."
  return new SourceError("not_a_file", message)
}

/**
 * Yields the chunks of a body that begins at byte `position` of a file. Throws when the file has
 * more than `bytesMax` bytes.
 */
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
  const message = `The file is too large, since at most ${formatBytes(bytesMax)} may be imported: use a smaller one, or ${PLAN_LIMIT_REMEDY}.`
  return new SourceError("too_large", message)
}

/**
 * Returns a callback that reports the progress of a download. If the length of the download is
 * unknown (`length` is null), the callback reports nothing.
 */
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
