import { join } from "node:path"
import { makeDial } from "../../egress/dial.ts"
import type { EgressError } from "../../egress/dial.ts"
import { openProxy } from "../../egress/proxy.ts"
import type { RateLimits } from "../../egress/rate-limits.ts"
import { makeSocketFolder } from "../../egress/socket-folder.ts"
import { RunnerError } from "../../failures.ts"
import type { ProcessEnd } from "../../sandbox/process.ts"
import { startProcess } from "../../sandbox/start.ts"
import type { PageContext } from "./page-context.ts"
import { readDriverLine } from "./driver-lines.ts"
import type { DriverDone, DriverError, DriverLine } from "./driver-lines.ts"
import { grantsOf, pythonArgv } from "./environment.ts"
import type { YtdlpEnvironment } from "./environment.ts"
import { watchRate } from "./rate-watch.ts"

/** What a page is asked for. */
export type PageJob = {
  url: string
  mode: "download" | "metadata"
  quality: string
  audioFormat?: string | undefined
  subtitles: readonly string[]
  start?: number | undefined
  end?: number | undefined
  /** The most bytes that the media may have. */
  bytesMax: number
}

/** How the driver is run for a job. */
export type DriverRun = {
  job: PageJob
  ytdlp: YtdlpEnvironment
  cookies: string | null
  /** The most bytes that may come in, pages and all. */
  receivedBytesMax: number
  rateLimits: RateLimits
  timeLimitMs: number
  onSpawn: () => void
  onProgress: (line: Extract<DriverLine, { kind: "progress" }>) => void
}

/** The last line of the driver, if it said one, and what came of its process and its proxy. */
export type DriverEnd = {
  last: DriverDone | DriverError | null
  end: ProcessEnd
  refusals: readonly EgressError[]
  isTooLarge: boolean
  /** Bytes a second, where it was ended since too few came. */
  slowRate: number | null
}

/** Runs yt-dlp once in a run's workspace, with a way out of its own. */
export async function runDriver(context: PageContext, run: DriverRun): Promise<DriverEnd> {
  const { settings, signal, taskSandbox, workspace } = context
  await using folder = await makeSocketFolder(settings.workDir)
  await using proxy = await openProxy({
    socketPath: join(folder.path, "s"),
    uid: taskSandbox.uid,
    dial: makeDial({ allowedHosts: settings.egress.allowedHosts, upstream: settings.egress.proxy }),
    bytesMax: run.receivedBytesMax,
    signal,
  })
  using rateWatch = watchRate(proxy, run.rateLimits)
  let last: DriverDone | DriverError | null = null
  const started = startProcess({
    tool: run.ytdlp.python,
    argv: pythonArgv("main.py"),
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
    ...grantsOf(run.ytdlp),
    timeLimitMs: run.timeLimitMs,
    signal: AbortSignal.any([signal, rateWatch.signal]),
    onProgressLine: (text) => {
      const line = readDriverLine(text)
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
