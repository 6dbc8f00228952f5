import { setTimeout as sleep } from "node:timers/promises"
import { HEARTBEAT_MS } from "../../src/contract/protocol.ts"
import type { ProgressDetail, Report } from "../../src/contract/report.ts"
import { log } from "../log.ts"
import type { IoClient } from "./io-client.ts"
import { retry, transferRetryPolicy } from "./promises.ts"

/** A report without its sender and its time. */
export type ReportBody<Kind extends Report["kind"]> = Omit<
  Extract<Report, { kind: Kind }>,
  "boot" | "at"
>

/** The last report of a run. */
export type FinalReport = ReportBody<"finished"> | ReportBody<"failed"> | ReportBody<"interrupted">

export type Reporter = {
  /** Reports that work began, unless it ends at once; only the first call counts. */
  started(): void
  /** Records the progress; it is sent when it has changed enough, or as a heartbeat. */
  progress(percent: number, etaSeconds: number | null): void
  /** Records what a tool says of its work; it is sent now and then, also where no percent changes. */
  detail(detail: ProgressDetail): void
  /** Sends the last report, with retries until the Worker takes it or the run is killed. */
  end(report: FinalReport): Promise<void>
  /** Stops the heartbeat without a report. */
  close(): void
}

/** Without an accepted report for this long, the lease has expired and the task is requeued. */
const SILENCE_MS_MAX = 60_000
const REPORT_TIMEOUT_MS = 5000
/** Work that ends earlier says so by its last report alone. */
const STARTED_AFTER_MS = 100
const STARTED_ATTEMPTS = 3
const STARTED_WAIT_MS = 500
const FINAL_RETRIES = { attempts: 200, firstDelayMs: 200, delayMsMax: 5000 }
const FINAL_MS_MAX = 10 * 60 * 1000
const FINAL_TIMEOUT_MS = 30_000

const TICK_MS = 250
/** Least time between two reports, after a change of a percent and after any other. */
const CHANGED_MS = 500
const SLIGHTLY_CHANGED_MS = 2000

type ProgressSender = {
  /** Records the latest progress, to be sent at a later tick. */
  update(percent: number, etaSeconds: number | null): void
  tell(detail: ProgressDetail): void
  close(): void
}

/**
 * Opens the reports of one run, with a heartbeat until it ends. Aborts `kill` when no report was
 * accepted for so long that the Worker must have given the task to another run.
 */
export function openReporter(io: IoClient, boot: string, kill: AbortController): Reporter {
  const { signal } = kill
  let acceptedMs = performance.now()
  async function post(body: ReportBody<Report["kind"]>, timeoutMs: number): Promise<void> {
    const report = { ...body, boot, at: new Date().toISOString() }
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error("No answer came in time.")), timeoutMs)
    try {
      const response = await io.fetch("/reports", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(report),
        signal: AbortSignal.any([signal, late.signal]),
      })
      await response.body?.cancel()
    } finally {
      clearTimeout(timer)
    }
  }
  async function send(body: ReportBody<"started"> | ReportBody<"progress">): Promise<void> {
    const attempts = body.kind === "started" ? STARTED_ATTEMPTS : 1
    try {
      const policy = { ...transferRetryPolicy(signal), attempts }
      await retry(policy, () => post(body, REPORT_TIMEOUT_MS))
      acceptedMs = performance.now()
    } catch (error) {
      if (performance.now() - acceptedMs > SILENCE_MS_MAX) kill.abort("lost")
      if (!signal.aborted) log("warn", "report.lost", { kind: body.kind, error: String(error) })
    }
  }
  const sender = openProgressSender(send)
  let started: Promise<void> | null = null
  let startedTimer: NodeJS.Timeout | undefined
  function sendStarted(): void {
    started = send({ kind: "started" })
  }
  function close(): void {
    clearTimeout(startedTimer)
    sender.close()
  }
  return {
    started() {
      startedTimer ??= setTimeout(sendStarted, STARTED_AFTER_MS)
    },
    progress: (percent, etaSeconds) => sender.update(percent, etaSeconds),
    detail: (detail) => sender.tell(detail),
    async end(report) {
      close()
      // A "started" report in flight should not arrive after the last one.
      if (started) await Promise.race([started, sleep(STARTED_WAIT_MS)])
      await sendFinal(signal, () => post(report, FINAL_TIMEOUT_MS))
    },
    close,
  }
}

async function sendFinal(signal: AbortSignal, send: () => Promise<void>): Promise<void> {
  const untilMs = performance.now() + FINAL_MS_MAX
  try {
    await retry({ ...FINAL_RETRIES, signal }, async () => {
      try {
        await send()
      } catch (error) {
        // This report exists nowhere else, so even an error that is final elsewhere is retried.
        if (performance.now() > untilMs) throw error
        throw new Error("The Worker did not take the report.", { cause: error })
      }
    })
  } catch (error) {
    if (!signal.aborted) log("warn", "report.lost", { kind: "ending", error: String(error) })
  }
}

/** Sends the latest progress when it has changed enough, or when a heartbeat is due. */
function openProgressSender(
  send: (report: ReportBody<"progress">) => Promise<void>,
): ProgressSender {
  let latest = { percent: 0, etaSeconds: null as number | null }
  let detail = null as ProgressDetail | null
  let sent = { percent: 0, detail, atMs: performance.now() }
  let isSending = false
  async function tick(): Promise<void> {
    const sinceMs = performance.now() - sent.atMs
    const change = latest.percent - sent.percent
    const isDue =
      (change >= 1 && sinceMs >= CHANGED_MS) ||
      ((change > 0 || detail !== sent.detail) && sinceMs >= SLIGHTLY_CHANGED_MS) ||
      sinceMs >= HEARTBEAT_MS
    if (isSending || !isDue) return
    isSending = true
    const { percent, etaSeconds } = latest
    sent = { percent, detail, atMs: performance.now() }
    await send({
      kind: "progress",
      percent,
      ...(etaSeconds !== null && { eta_seconds: etaSeconds }),
      ...(detail && { detail }),
    })
    isSending = false
  }
  const timer = setInterval(() => void tick(), TICK_MS)
  return {
    update(percent, etaSeconds) {
      latest = { percent: Math.max(latest.percent, percent), etaSeconds }
    },
    tell(told) {
      detail = told
    },
    close() {
      clearInterval(timer)
    },
  }
}
