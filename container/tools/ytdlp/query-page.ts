import { setTimeout as sleep } from "node:timers/promises"
import { isSiteAllowed } from "../../../src/contract/urls/allowed-site.ts"
import { parseUserUrl } from "../../../src/contract/urls/user-url.ts"
import { PLAN_LIMIT_REMEDY } from "../../../src/contract/plan-limit-remedy.ts"
import { DOWNLOAD_RATE_LIMITS } from "../../egress/download-rate-limits.ts"
import type { DownloadRateLimits } from "../../egress/download-rate-limits.ts"
import { createCallerFailure, RunnerError } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import type { PageQueryContext } from "./page-context.ts"
import { formatBytes } from "../format-bytes.ts"
import type { YtdlpDriverResultLine } from "./driver-lines.ts"
import { findYtdlpInstallation } from "./ytdlp-environment.ts"
import { explainPageFailure } from "./explain-page-failure.ts"
import type { PageQueryFailure } from "./explain-page-failure.ts"
import { runYtdlp } from "./run-ytdlp.ts"
import type { YtdlpRunResult, YtdlpRun, YtdlpJob } from "./run-ytdlp.ts"
import { waitForYtdlpInstallation } from "./ytdlp-update.ts"
import { stripVTControlCharacters } from "node:util"
import { cleanToolLines } from "../ffmpeg/explain-failure.ts"

const TRIES = 3
const FIRST_DELAY_MS = 1000
/**
 * Number of bytes that a run of yt-dlp may receive in addition to the media: for web pages,
 * manifests and the overhead of TLS.
 */
const PAGE_BYTES_MAX = 64 * 1024 ** 2

export type PageQuery = {
  job: YtdlpJob
  timeLimitMs: number
  onSpawn: () => void
  /**
   * Called with the downloaded fraction, from 0 to 1, and the remaining time in seconds, or null if
   * the remaining time is unknown.
   */
  onProgress?: (fraction: number, etaSeconds: number | null) => void
}

/**
 * Queries a web page by yt-dlp: reads the metadata of its video, or downloads the video. Retries
 * after failures that may be temporary.
 */
export async function queryPage(
  context: PageQueryContext,
  question: PageQuery,
  rateLimits: DownloadRateLimits = DOWNLOAD_RATE_LIMITS,
): Promise<YtdlpDriverResultLine | TaskFailure> {
  const { settings, order, signal } = context
  const checked = parseUserUrl(question.job.url, settings.egress.allowedHosts)
  if ("error" in checked) return createCallerFailure("url_not_allowed", `url: ${checked.error}.`)
  if (!isSiteAllowed(checked.url, settings.egress.sites)) {
    return createCallerFailure(
      "url_not_allowed",
      "The operator of this service allows other sites only.",
    )
  }
  // Normalizes the URL, and drops its fragment, which yt-dlp would interpret as options.
  const job = { ...question.job, url: checked.url.href }
  await waitForYtdlpInstallation()
  const ytdlp = findYtdlpInstallation(settings)
  if (!ytdlp) throw new RunnerError("internal", "This runner has no yt-dlp, so it cannot fetch.")
  const startedMs = performance.now()
  const run = {
    job,
    ytdlp,
    cookies: order.secrets?.cookies ?? settings.fetchCookies,
    receivedBytesMax: job.bytesMax + PAGE_BYTES_MAX,
    rateLimits,
    onSpawn: question.onSpawn,
    onProgress: ({ fraction, eta }: { fraction: number; eta?: number | null | undefined }) =>
      question.onProgress?.(fraction, eta ?? null),
  }
  for (let attempt = 1; ; attempt += 1) {
    const timeLimitMs = question.timeLimitMs - (performance.now() - startedMs)
    const answer = await queryOnce(context, { ...run, timeLimitMs })
    if (!("isRetryable" in answer)) return answer
    const delayMs = FIRST_DELAY_MS * 2 ** (attempt - 1)
    const leftMs = question.timeLimitMs - (performance.now() - startedMs) - delayMs
    if (!answer.isRetryable || attempt === TRIES || leftMs <= 0) return answer.failure
    await sleep(delayMs, undefined, { signal })
  }
}

async function queryOnce(
  context: PageQueryContext,
  run: YtdlpRun,
): Promise<YtdlpDriverResultLine | PageQueryFailure> {
  const ended = await runYtdlp(context, run)
  if (ended.last?.kind === "done") return ended.last
  const clean = createLineCleaner(context, run)
  if (ended.slowRate !== null || ended.last?.kind !== "error") {
    return { failure: explainDriverEnd(context, run, ended), isRetryable: false }
  }
  const { bytesMax } = run.job
  return explainPageFailure(ended.last, { ...ended, bytesMax, clean })
}

/**
 * Returns the failure of a Python driver that ended without a result or was stopped. Throws a
 * RunnerError if the service is the cause.
 */
function explainDriverEnd(
  context: PageQueryContext,
  run: YtdlpRun,
  { end, isTooLarge, slowRate }: YtdlpRunResult,
): TaskFailure {
  const { bytesMax } = run.job
  const isLarge = isTooLarge || end.cause === "disk_limit" || end.cause === "file_limit"
  if (end.cause === "disk_full" || end.wasDiskFull) {
    throw new RunnerError("disk_full", "The fetch was stopped: the disk has no room for the media.")
  }
  if (isLarge) {
    const sentence = `The video exceeds the limit of a file (${formatBytes(bytesMax)}): request a lower quality or a section, or ${PLAN_LIMIT_REMEDY}.`
    return createCallerFailure("too_large", sentence)
  }
  if (slowRate !== null) {
    const sentence = `The site sends only ${slowRate} bytes a second, which is too slow: try again later.`
    return createCallerFailure("too_slow", sentence)
  }
  if (end.cause === "time_limit" || end.cause === "cpu_limit") {
    const sentence = "The site was too slow: the download exceeded the time limit of a fetch."
    return createCallerFailure("too_slow", sentence)
  }
  const lines = createLineCleaner(context, run)(end.stderrTail.split("\n"))
  throw new RunnerError("internal", "yt-dlp ended without a result.", {
    cause: new Error(lines.join("\n")),
  })
}

function createLineCleaner({ settings, workspace }: PageQueryContext, { cookies }: YtdlpRun) {
  const { proxy } = settings.egress
  const secrets = [
    ...(cookies === null ? [] : parseCookieValues(cookies)),
    ...(proxy === null ? [] : [proxy.host, proxy.username, proxy.password]),
  ]
  return (lines: readonly string[]) => cleanYtdlpLines(lines, { workspace, secrets })
}

const SECRET_LENGTH_MIN = 4
const COOKIE_FIELDS = 7

/**
 * Matches absolute paths of this machine in messages of Python and of programs that yt-dlp starts.
 */
const PATHS = /(?<![\w:/.])\/(?:[\w.@+~-]+\/)+[\w.@+~-]*/g

/** Matches advice for users of yt-dlp's command line, which does not apply to callers. */
const ADVICE = [
  /;? ?please report this issue on .*$/i,
  /;? ?see +https:\/\/github\.com\/yt-dlp\/\S+ .*$/i,
  /\.? Use --(?:cookies|username|list-formats).*$/,
  /Confirm you are on the latest version.*$/,
]

/**
 * Cleans lines of yt-dlp for API clients: removes paths of this machine, and replaces `secrets`,
 * such as the values of cookies.
 */
export function cleanYtdlpLines(
  lines: readonly string[],
  { workspace, secrets }: { workspace: string; secrets: readonly string[] },
): string[] {
  const plain = stripVTControlCharacters(lines.join("\n"))
  const hidden = secrets.filter((secret) => secret.length >= SECRET_LENGTH_MIN)
  const text = hidden.reduce((rest, secret) => rest.replaceAll(secret, "***"), plain)
  const cleaned = cleanToolLines(text, workspace).map((line) => {
    const short = ADVICE.reduce((rest, advice) => rest.replace(advice, ""), line)
    return short
      .replace(PATHS, "...")
      .replace(/^(?:ERROR|WARNING): /, "")
      .trim()
  })
  return [...new Set(cleaned)].filter((line) => line !== "")
}

/** Returns the values of the cookies in a text of Netscape's cookie format. */
export function parseCookieValues(cookies: string): string[] {
  return cookies.split(/\r?\n/).flatMap((line) => {
    const fields = line.split("\t")
    const value = fields.length >= COOKIE_FIELDS ? fields[COOKIE_FIELDS - 1] : undefined
    return value === undefined ? [] : [value.trim()]
  })
}
