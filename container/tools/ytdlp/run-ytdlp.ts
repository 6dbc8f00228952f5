import { join } from "node:path"
import { createDialFunction } from "../../egress/dial.ts"
import type { EgressError } from "../../egress/dial.ts"
import { startToolProxy } from "../../egress/tool-proxy.ts"
import type { ToolProxy } from "../../egress/tool-proxy.ts"
import type { DownloadRateLimits } from "../../egress/download-rate-limits.ts"
import { createSocketFolder } from "../../egress/socket-folder.ts"
import { RunnerError } from "../../task-failure.ts"
import type { ToolProcessResult } from "../../sandbox/tool-process.ts"
import { startToolProcess } from "../../sandbox/start-process.ts"
import type { PageQueryContext } from "./page-context.ts"
import { parseYtdlpDriverLine } from "./driver-lines.ts"
import type {
  YtdlpDriverResultLine,
  YtdlpDriverErrorLine,
  YtdlpDriverLine,
} from "./driver-lines.ts"
import { getYtdlpToolGrants, ytdlpDriverArgv } from "./ytdlp-environment.ts"
import type { YtdlpInstallation } from "./ytdlp-environment.ts"

/** Job for the Python driver of yt-dlp: the URL of a page, and the media or metadata to fetch. */
export type YtdlpJob = {
  url: string
  mode: "download" | "metadata"
  quality: string
  audioFormat?: string | undefined
  subtitles: readonly string[]
  start?: number | undefined
  end?: number | undefined
  /** Maximum size of the media, in bytes. */
  bytesMax: number
}

/** Options for a run of yt-dlp. */
export type YtdlpRun = {
  job: YtdlpJob
  ytdlp: YtdlpInstallation
  cookies: string | null
  /** Maximum number of bytes that the run may receive, including web pages. */
  receivedBytesMax: number
  rateLimits: DownloadRateLimits
  timeLimitMs: number
  onSpawn: () => void
  onProgress: (line: Extract<YtdlpDriverLine, { kind: "progress" }>) => void
}

/**
 * Outcome of a run of yt-dlp: the last line of the driver or null, the end of the driver's process,
 * and the results of the run's proxy: refused connections, and whether the download was too large
 * or too slow.
 */
export type YtdlpRunResult = {
  last: YtdlpDriverResultLine | YtdlpDriverErrorLine | null
  end: ToolProcessResult
  refusals: readonly EgressError[]
  isTooLarge: boolean
  /** Rate in bytes per second of a download that was stopped because it was too slow; else null. */
  slowRate: number | null
}

/**
 * Runs yt-dlp once in the workspace of a task's run. A proxy for this run is the only access of
 * yt-dlp to the web.
 */
export async function runYtdlp(context: PageQueryContext, run: YtdlpRun): Promise<YtdlpRunResult> {
  const { settings, signal, taskSandbox, workspace } = context
  await using folder = await createSocketFolder(settings.workDir)
  await using proxy = await startToolProxy({
    socketPath: join(folder.path, "s"),
    uid: taskSandbox.uid,
    dial: createDialFunction({
      allowedHosts: settings.egress.allowedHosts,
      upstream: settings.egress.proxy,
    }),
    bytesMax: run.receivedBytesMax,
    signal,
  })
  using rateWatch = watchDownloadRate(proxy, run.rateLimits)
  let last: YtdlpDriverResultLine | YtdlpDriverErrorLine | null = null
  const started = startToolProcess({
    tool: run.ytdlp.python,
    argv: ytdlpDriverArgv("main.py"),
    stdin: JSON.stringify({
      ...run.job,
      ...run.ytdlp.programs,
      cookies: run.cookies,
      packages: run.ytdlp.packages,
      proxy: proxy.url,
    }),
    taskSandbox,
    cwd: workspace,
    access: "write",
    network: proxy.socketPath,
    ...getYtdlpToolGrants(run.ytdlp),
    timeLimitMs: run.timeLimitMs,
    signal: AbortSignal.any([signal, rateWatch.signal]),
    onProgressLine: (text) => {
      const line = parseYtdlpDriverLine(text)
      if (line?.kind === "progress") run.onProgress(line)
      if (line?.kind === "done" || line?.kind === "error") last = line
    },
  })
  if (started.pid !== null) run.onSpawn()
  const end = await started.finished
  context.status.processingMs += end.wallMs
  signal.throwIfAborted()
  if (end.cause === "spawn_failed") {
    const cause = new Error(end.spawnError ?? "")
    throw new RunnerError("internal", "yt-dlp could not be started.", { cause })
  }
  const isTooLarge = proxy.isTooLarge()
  const slowRate = end.cause === "aborted" ? rateWatch.slowRate() : null
  return { last, end, refusals: proxy.refusals(), isTooLarge, slowRate }
}

/** Monitor of the download rate of a tool. */
type RateWatch = Disposable & {
  /** Signal that aborts when the downloads of the tool are too slow. */
  signal: AbortSignal
  /** Returns the rate in bytes per second if the downloads were too slow; else null. */
  slowRate(): number | null
}

const CHECK_MS_MAX = 1000

/**
 * Watches the rate of a tool's downloads through its proxy. Time counts only while a connection is
 * open. A time without data counts for at most `stallMs`, since a tool may keep a connection open
 * while it converts media.
 */
export function watchDownloadRate(
  proxy: Pick<ToolProxy, "isOpen" | "received">,
  { slowMs, bytesPerSecondMin, stallMs }: DownloadRateLimits,
): RateWatch {
  const slow = new AbortController()
  let rate: number | null = null
  let checkedMs = performance.now()
  let silentMs = 0
  let seenBytes = proxy.received()
  let sample = { ms: 0, bytes: 0 }
  function checkRate(): void {
    const nowMs = performance.now()
    if (proxy.isOpen()) silentMs += nowMs - checkedMs
    checkedMs = nowMs
    const bytes = proxy.received() - seenBytes
    if (bytes === 0) return
    seenBytes += bytes
    sample = { ms: sample.ms + Math.min(silentMs, stallMs), bytes: sample.bytes + bytes }
    silentMs = 0
    if (sample.ms < slowMs) return
    const measuredRate = (sample.bytes * 1000) / sample.ms
    sample = { ms: 0, bytes: 0 }
    if (measuredRate >= bytesPerSecondMin) return
    rate ??= Math.round(measuredRate)
    slow.abort()
  }
  const timer = setInterval(checkRate, Math.min(CHECK_MS_MAX, stallMs / 4))
  return {
    signal: slow.signal,
    slowRate: () => rate,
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
