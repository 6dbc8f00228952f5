import { existsSync } from "node:fs"
import { basename } from "node:path"
import type { ProcessSpec, StartedProcess } from "./process.ts"
import { findProgram } from "./paths.ts"
import { PROGRAMS } from "./programs.ts"
import type { Sandbox } from "./sandbox.ts"
import { startProcess } from "./start.ts"

/** Bytes of a file from `start` until before `end`. */
export type Stretch = { start: number; end: number }

/** A file whose bytes are brought before a tool reads them. */
export type WatchedFile = {
  inode: bigint
  size: number
  /** Brings what is about to be read; answers the stretch around it that is there then. */
  bring(wanted: Stretch): Promise<Stretch>
}

/** Loaders that can load a library before those of a program. */
const PRELOADING = /^ld-linux-/
const EVERYTHING = { start: 0, end: Number.MAX_SAFE_INTEGER }
const QUESTION = /^(\d{1,20}) (\d{1,15}) (\d{1,15})$/
const ANSWER_BYTES = 16
/** Far more than media need; each costs the runner a moment of all its tasks. */
const QUESTIONS_MAX = 10_000

/** Whether tools can be started so that their reads are watched. */
export function canWatchReads(sandbox: Sandbox): boolean {
  return findLoader(sandbox) !== undefined && existsSync(PROGRAMS.reads)
}

/**
 * Starts a dynamically linked tool that has the bytes of `file` brought before it reads them: see
 * container/launcher/reads.c. What `bring` throws goes to `onFailure`, and so does what reads.c would
 * not ask, which a tool asks that the media have taken over; then the tool waits until its signal
 * aborts.
 */
export function startWatched(
  spec: ProcessSpec,
  file: WatchedFile,
  onFailure: (error: unknown) => void,
): StartedProcess {
  let isAnswering = false
  let hasFailed = false
  let questions = 0
  async function answer(question: string): Promise<void> {
    questions += 1
    if (questions > QUESTIONS_MAX) throw new Error("A tool asked too often.")
    // Answers that nobody reads would fill the memory of the runner.
    if (isAnswering || (started.stdin?.writableLength ?? 0) > 0) {
      throw new Error("A tool asked again before it had read its answer.")
    }
    isAnswering = true
    const [, asked, offset, length] = QUESTION.exec(question) ?? []
    if (asked === undefined) throw new Error("A tool asked for nothing that can be read.")
    const wanted = { start: Number(offset), end: Number(offset) + Number(length) }
    const isOther = BigInt(asked) !== file.inode
    if (!isOther && (wanted.start >= wanted.end || wanted.end > file.size)) {
      throw new Error("A tool asked for what is not in the file.")
    }
    const there = isOther ? EVERYTHING : await file.bring(wanted)
    isAnswering = false
    started.stdin?.write(encode(there))
  }
  function answerNext(question: string): void {
    if (hasFailed) return
    answer(question).catch((error: unknown) => {
      if (hasFailed) return
      hasFailed = true
      onFailure(error)
    })
  }
  const started = startProcess({
    ...spec,
    tool: findLoader(spec.taskSandbox.sandbox) ?? "",
    argv: ["--preload", PROGRAMS.reads, findProgram(spec.tool), ...spec.argv],
    run: [spec.tool, ...(spec.run ?? [])],
    read: [PROGRAMS.reads, ...(spec.read ?? [])],
    stdin: { open: true },
    onProgressLine: answerNext,
  })
  return started
}

function findLoader({ paths }: Sandbox): string | undefined {
  return paths.loaders.find((path) => PRELOADING.test(basename(path)))
}

function encode({ start, end }: Stretch): Buffer {
  const numbers = new BigInt64Array([BigInt(start), BigInt(end)])
  return Buffer.from(numbers.buffer, 0, ANSWER_BYTES)
}
