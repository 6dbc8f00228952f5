import { setTimeout as sleep } from "node:timers/promises"
import { isSiteAllowed } from "../../../src/contract/allowed-site.ts"
import { checkUserUrl } from "../../../src/contract/user-url.ts"
import { OTHER_PLAN } from "../../../src/contract/other-plan.ts"
import { RATE_LIMITS } from "../../egress/rate-limits.ts"
import type { RateLimits } from "../../egress/rate-limits.ts"
import { RunnerError, callerFailure } from "../../failures.ts"
import type { TaskFailure } from "../../failures.ts"
import type { PageContext } from "./page-context.ts"
import { formatBytes } from "../format-bytes.ts"
import { cleanPageLines, cookieValues } from "./clean-lines.ts"
import type { DriverDone } from "./driver-lines.ts"
import { findYtdlp } from "./environment.ts"
import { explainPage } from "./explain-page.ts"
import type { PageFailure } from "./explain-page.ts"
import { runDriver } from "./run-driver.ts"
import type { DriverEnd, DriverRun, PageJob } from "./run-driver.ts"
import { ytdlpReady } from "./version.ts"

const TRIES = 3
const FIRST_DELAY_MS = 1000
/** Pages, manifests and the overhead of TLS, beside the media. */
const PAGE_BYTES_MAX = 64 * 1024 ** 2

export type PageQuestion = {
  job: PageJob
  timeLimitMs: number
  onSpawn: () => void
  /** Fraction from 0 to 1, and the seconds left, as far as yt-dlp knows them. */
  onProgress?: (fraction: number, etaSeconds: number | null) => void
}

/** Has yt-dlp read a page, several times where what is against it may pass. */
export async function askPage(
  context: PageContext,
  question: PageQuestion,
  rateLimits: RateLimits = RATE_LIMITS,
): Promise<DriverDone | TaskFailure> {
  const { settings, order, signal } = context
  const checked = checkUserUrl(question.job.url, settings.egress.allowedHosts)
  if ("error" in checked) return callerFailure("url_not_allowed", `url: ${checked.error}.`)
  if (!isSiteAllowed(checked.url, settings.egress.sites)) {
    return callerFailure("url_not_allowed", "The operator of this service allows other sites only.")
  }
  // In one spelling, without a fragment, which yt-dlp takes for orders of its own.
  const job = { ...question.job, url: checked.url.href }
  await ytdlpReady()
  const ytdlp = findYtdlp(settings)
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
    const answer = await ask(context, { ...run, timeLimitMs })
    if (!("mayPass" in answer)) return answer
    const delayMs = FIRST_DELAY_MS * 2 ** (attempt - 1)
    const leftMs = question.timeLimitMs - (performance.now() - startedMs) - delayMs
    if (!answer.mayPass || attempt === TRIES || leftMs <= 0) return answer.failure
    await sleep(delayMs, undefined, { signal })
  }
}

async function ask(context: PageContext, run: DriverRun): Promise<DriverDone | PageFailure> {
  const ended = await runDriver(context, run)
  if (ended.last?.kind === "done") return ended.last
  const clean = cleaner(context, run)
  if (ended.slowRate !== null || ended.last?.kind !== "error") {
    return { failure: explainEnd(context, run, ended), mayPass: false }
  }
  const { bytesMax } = run.job
  return explainPage(ended.last, { ...ended, bytesMax, clean })
}

/** Why the driver ended without a word, or was ended. */
function explainEnd(
  context: PageContext,
  run: DriverRun,
  { end, isTooLarge, slowRate }: DriverEnd,
): TaskFailure {
  const { bytesMax } = run.job
  const isLarge = isTooLarge || end.cause === "disk_limit" || end.cause === "file_limit"
  if (end.cause === "disk_full" || end.wasDiskFull) {
    throw new RunnerError("disk_full", "It was stopped: the disk has no room for the media.")
  }
  if (isLarge) {
    const sentence = `The video has more than the ${formatBytes(bytesMax)} that a file may have: ask for a lower quality, for a part of it, or ${OTHER_PLAN}.`
    return callerFailure("too_large", sentence)
  }
  if (slowRate !== null) {
    const sentence = `The site sends only ${slowRate} bytes a second, which is too slow: try again later.`
    return callerFailure("too_slow", sentence)
  }
  if (end.cause === "time_limit" || end.cause === "cpu_limit") {
    const sentence =
      "The site was too slow: the video was not there in the time that a fetch may take."
    return callerFailure("too_slow", sentence)
  }
  const lines = cleaner(context, run)(end.stderrTail.split("\n"))
  throw new RunnerError("internal", "yt-dlp ended without a result.", {
    cause: new Error(lines.join("\n")),
  })
}

function cleaner({ settings, workspace }: PageContext, { cookies }: DriverRun) {
  const { proxy } = settings.egress
  const secrets = [
    ...(cookies === null ? [] : cookieValues(cookies)),
    ...(proxy === null ? [] : [proxy.host, proxy.username, proxy.password]),
  ]
  return (lines: readonly string[]) => cleanPageLines(lines, { workspace, secrets })
}
