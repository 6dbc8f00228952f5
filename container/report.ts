import { setTimeout as sleep } from "node:timers/promises"
import { HEARTBEAT_MS } from "../src/contract/protocol.ts"
import type { Report } from "../src/contract/report.ts"
import type { Io } from "./io.ts"
import { log } from "./log.ts"
import { retry, transferPace } from "./retry.ts"

/** What a report says beside who says it and when. */
export type Telling<Kind extends Report["kind"]> = Omit<
  Extract<Report, { kind: Kind }>,
  "boot" | "at"
>

export type Ending = Telling<"finished"> | Telling<"failed"> | Telling<"interrupted">

export type Reporter = {
  /** Says that work began; sent once, however often it is called. */
  started(): void
  /** Notes how far the work is; it is sent when it is worth a report. */
  progress(percent: number, etaSeconds: number | null): void
  /** Says how it ended, again and again until the Worker has heard it or no longer cares. */
  end(ending: Ending): Promise<void>
  /** Ends the heartbeat without a word. */
  close(): void
}

/** By then the lease is long over and the task is somebody else's. */
const SILENCE_MS_MAX = 60_000
const TICK_MS = 250
const CHANGED_MS = 500
const UNCHANGED_MS = 2000
const CHATTER_TIMEOUT_MS = 5000
const STARTED_WAIT_MS = 500
const ENDING_PACE = { tries: 200, firstWaitMs: 200, longestWaitMs: 5000 }
const ENDING_MS = 10 * 60 * 1000
const ENDING_TIMEOUT_MS = 30_000

/**
 * Opens the reports of one run, with a heartbeat until it ends. `kill` ends the run; it is pulled
 * here when the Worker was not heard for so long that it must have given the task to somebody else.
 */
export function openReporter(io: Io, boot: string, kill: AbortController): Reporter {
  const { signal } = kill
  let heardMs = performance.now()
  async function send(told: Telling<Report["kind"]>, timeoutMs: number): Promise<void> {
    const report = { ...told, boot, at: new Date().toISOString() }
    const answer = await io.call("/reports", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(report),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    await answer.body?.cancel()
  }
  async function chat(told: Telling<"started"> | Telling<"progress">): Promise<void> {
    const tries = told.kind === "started" ? 3 : 1
    try {
      await retry({ ...transferPace(signal), tries }, () => send(told, CHATTER_TIMEOUT_MS))
      heardMs = performance.now()
    } catch (error) {
      if (performance.now() - heardMs > SILENCE_MS_MAX) kill.abort("lost")
      if (!signal.aborted) log("report.lost", { kind: told.kind, error: String(error) })
    }
  }
  const ticker = openTicker((told) => chat(told))
  let started: Promise<void> | null = null
  return {
    started() {
      started ??= chat({ kind: "started" })
    },
    progress: ticker.note,
    async end(ending) {
      ticker.close()
      // A report of the beginning that is on its way should not come in after that of the end.
      await Promise.race([started, sleep(STARTED_WAIT_MS)])
      await deliver(signal, () => send(ending, ENDING_TIMEOUT_MS))
    },
    close: ticker.close,
  }
}

/** Sends the latest progress where it changed enough or silence would last too long. */
function openTicker(send: (told: Telling<"progress">) => Promise<void>) {
  let latest = { percent: 0, etaSeconds: null as number | null }
  let sent = { percent: 0, atMs: performance.now() }
  let isSending = false
  async function tick(): Promise<void> {
    const silentMs = performance.now() - sent.atMs
    const moved = latest.percent - sent.percent
    const isDue =
      (moved >= 1 && silentMs >= CHANGED_MS) ||
      (moved > 0 && silentMs >= UNCHANGED_MS) ||
      silentMs >= HEARTBEAT_MS
    if (isSending || !isDue) return
    isSending = true
    const { percent, etaSeconds } = latest
    sent = { percent, atMs: performance.now() }
    await send({
      kind: "progress",
      percent,
      ...(etaSeconds !== null && { eta_seconds: etaSeconds }),
    })
    isSending = false
  }
  const timer = setInterval(() => void tick(), TICK_MS)
  return {
    note: (percent: number, etaSeconds: number | null): void => {
      latest = { percent: Math.max(latest.percent, percent), etaSeconds }
    },
    close: (): void => {
      clearInterval(timer)
    },
  }
}

async function deliver(signal: AbortSignal, send: () => Promise<void>): Promise<void> {
  const untilMs = performance.now() + ENDING_MS
  try {
    await retry({ ...ENDING_PACE, signal }, async () => {
      try {
        await send()
      } catch (error) {
        // Nobody else can tell the Worker, so even an answer that is final elsewhere is tried again.
        if (performance.now() > untilMs) throw error
        throw new Error("The Worker did not take the report.", { cause: error })
      }
    })
  } catch (error) {
    if (!signal.aborted) log("report.lost", { kind: "ending", error: String(error) })
  }
}
