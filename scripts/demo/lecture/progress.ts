import type { WriteStream } from "node:tty"
import type { LectureRecord } from "./record.ts"

const STATUS_WORDS = {
  queued: "waits",
  processing: "runs",
  completed: "has succeeded",
  failed: "has failed",
}
const CLEAR_LINE = "\r\x1b[K"

/**
 * Display of a batch's progress: a line for each new status of a job. A terminal also has a last
 * line with the progress of the jobs that run.
 */
export class BatchProgress {
  readonly #out: WriteStream
  readonly #shown = new Map<string, string>()
  readonly #startedMs = performance.now()

  constructor(out: WriteStream) {
    this.#out = out
  }

  show({ jobs, progress }: LectureRecord): void {
    if (this.#out.isTTY) this.#out.write(CLEAR_LINE)
    for (const [name, { status }] of Object.entries(jobs)) {
      if (status === "queued" || this.#shown.get(name) === status) continue
      this.#shown.set(name, status)
      const seconds = ((performance.now() - this.#startedMs) / 1000).toFixed(1)
      const percent = progress.toFixed(0).padStart(4)
      this.#out.write(`${seconds.padStart(8)} s${percent} %  ${name} ${STATUS_WORDS[status]}\n`)
    }
    if (!this.#out.isTTY) return
    const running = Object.entries(jobs).filter(({ 1: { status } }) => status === "processing")
    const percents = running.map(([name, job]) => `${name} ${(job.progress ?? 0).toFixed(0)} %`)
    this.#out.write(percents.join(", "))
  }

  end(): void {
    if (this.#out.isTTY) this.#out.write(CLEAR_LINE)
  }
}
