import { setTimeout as sleep } from "node:timers/promises"
import { HEARTBEAT_INTERVAL_MS } from "../../src/contract/protocol.ts"
import type { ProgressDetail, Report } from "../../src/contract/report.ts"
import { log } from "../log.ts"
import type { RunIoClient } from "./worker-client.ts"
import { retryWithBackoff, transferRetryPolicy } from "./concurrency-and-retry.ts"

/**
 * Fields of a report to the Worker, without the fields that are added when it is sent: the id of
 * the runner's process (`boot`) and the time (`at`).
 */
export type ReportFields<Kind extends Report["kind"]> = Omit<
  Extract<Report, { kind: Kind }>,
  "boot" | "at"
>

/** Last report of a run: the run finished, failed or was interrupted. */
export type FinalReport =
  | ReportFields<"finished">
  | ReportFields<"failed">
  | ReportFields<"interrupted">

export type RunReporter = {
  /**
   * Reports to the Worker that the work has started, unless the run ends within STARTED_AFTER_MS
   * milliseconds. Only the first call has an effect.
   */
  started(): void
  /**
   * Records the progress of the run. The progress is sent to the Worker after a sufficient change,
   * or with the next heartbeat.
   */
  progress(percent: number, etaSeconds: number | null): void
  /**
   * Records details of a tool's progress. The details are sent to the Worker at intervals, even if
   * the percentage does not change.
   */
  detail(detail: ProgressDetail): void
  /**
   * Sends the last report of the run. Retries until the Worker accepts it, the run is killed, or
   * FINAL_MS_MAX has passed.
   */
  end(report: FinalReport): Promise<void>
  /** Stops the heartbeat without sending a report. */
  close(): void
}

/**
 * Time without an accepted report, in milliseconds, after which the Worker has certainly given up
 * the run and lets the task wait for another run.
 */
const SILENCE_MS_MAX = 60_000
const REPORT_TIMEOUT_MS = 5000
/**
 * Delay of the "started" report, in milliseconds. A run that ends earlier sends only its last
 * report.
 */
const STARTED_AFTER_MS = 100
const STARTED_ATTEMPTS = 3
const STARTED_WAIT_MS = 500
const FINAL_RETRIES = { attempts: 200, firstDelayMs: 200, delayMsMax: 5000 }
const FINAL_MS_MAX = 10 * 60 * 1000
const FINAL_TIMEOUT_MS = 30_000

const TICK_MS = 250
/**
 * Minimum time between two progress reports, in milliseconds. CHANGED_MS applies after a change of
 * at least one percent. SLIGHTLY_CHANGED_MS applies after a smaller change, or if only the details
 * have changed.
 */
const CHANGED_MS = 500
const SLIGHTLY_CHANGED_MS = 2000

type ProgressSender = {
  /** Records the latest progress, which is sent with the next progress report. */
  update(percent: number, etaSeconds: number | null): void
  setDetail(detail: ProgressDetail): void
  close(): void
}

/**
 * Opens the reporter of one run, which sends heartbeats until the run ends. Aborts `kill` if the
 * Worker has not accepted a report for so long that the task must have been requeued.
 */
export function createRunReporter(
  io: RunIoClient,
  boot: string,
  kill: AbortController,
): RunReporter {
  const { signal } = kill
  let acceptedMs = performance.now()
  async function post(body: ReportFields<Report["kind"]>, timeoutMs: number): Promise<void> {
    const report = { ...body, boot, at: new Date().toISOString() }
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error("The response timed out.")), timeoutMs)
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
  async function send(body: ReportFields<"started"> | ReportFields<"progress">): Promise<void> {
    const attempts = body.kind === "started" ? STARTED_ATTEMPTS : 1
    try {
      const policy = { ...transferRetryPolicy(signal), attempts }
      await retryWithBackoff(policy, () => post(body, REPORT_TIMEOUT_MS))
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
    detail: (detail) => sender.setDetail(detail),
    async end(report) {
      close()
      // Waits until the "started" report is sent, since that report should not arrive after the
      // last report.
      if (started) await Promise.race([started, sleep(STARTED_WAIT_MS)])
      await sendFinal(signal, () => post(report, FINAL_TIMEOUT_MS))
    },
    close,
  }
}

async function sendFinal(signal: AbortSignal, send: () => Promise<void>): Promise<void> {
  const untilMs = performance.now() + FINAL_MS_MAX
  try {
    await retryWithBackoff({ ...FINAL_RETRIES, signal }, async () => {
      try {
        await send()
      } catch (error) {
        // Retries after every error, including errors after which other requests are not retried,
        // because the outcome of the run exists only in this report.
        if (performance.now() > untilMs) throw error
        throw new Error("The Worker did not accept the report.", { cause: error })
      }
    })
  } catch (error) {
    if (!signal.aborted) log("warn", "report.lost", { kind: "ending", error: String(error) })
  }
}

/**
 * Starts a timer that sends the latest progress to the Worker after a sufficient change, or when a
 * heartbeat is due.
 */
function openProgressSender(
  send: (report: ReportFields<"progress">) => Promise<void>,
): ProgressSender {
  let latest = { percent: 0, etaSeconds: null as number | null }
  let detail = null as ProgressDetail | null
  let lastSent = { percent: 0, detail, atMs: performance.now() }
  let isSending = false
  async function tick(): Promise<void> {
    const sinceMs = performance.now() - lastSent.atMs
    const change = latest.percent - lastSent.percent
    const isDue =
      (change >= 1 && sinceMs >= CHANGED_MS) ||
      ((change > 0 || detail !== lastSent.detail) && sinceMs >= SLIGHTLY_CHANGED_MS) ||
      sinceMs >= HEARTBEAT_INTERVAL_MS
    if (isSending || !isDue) return
    isSending = true
    const { percent, etaSeconds } = latest
    lastSent = { percent, detail, atMs: performance.now() }
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
    setDetail(latestDetail) {
      detail = latestDetail
    },
    close() {
      clearInterval(timer)
    },
  }
}
