import { existsSync } from "node:fs"
import { basename } from "node:path"
import type { ToolProcessSpec, StartedToolProcess } from "./tool-process.ts"
import { findProgram } from "./system-paths.ts"
import { LAUNCHER_PROGRAMS } from "./launcher-programs.ts"
import type { Sandbox } from "./sandbox.ts"
import { startToolProcess } from "./start-process.ts"

/** Range of bytes in a file, from `start` (inclusive) to `end` (exclusive). */
export type FileByteRange = { start: number; end: number }

/** Input file of which each part is downloaded only when a tool reads that part. */
export type OnDemandFile = {
  inode: bigint
  size: number
  /**
   * Downloads a range of bytes. Returns the downloaded range, which contains the requested range
   * and may be larger.
   */
  load(range: FileByteRange): Promise<FileByteRange>
}

/** Matches the names of dynamic loaders that can preload a library. */
const PRELOADING = /^ld-linux-/
const EVERYTHING = { start: 0, end: Number.MAX_SAFE_INTEGER }
const QUESTION = /^(\d{1,20}) (\d{1,15}) (\d{1,15})$/
const ANSWER_BYTES = 16
/**
 * Maximum number of read requests of a tool, far more than real media need. Each request takes time
 * of the runner's only thread.
 */
const QUESTIONS_MAX = 10_000

/**
 * Reports whether a tool in the sandbox can read a file that is downloaded only while the tool
 * reads it.
 */
export function supportsOnDemandFileReads(sandbox: Sandbox): boolean {
  return findLoader(sandbox) !== undefined && existsSync(LAUNCHER_PROGRAMS.reads)
}

/**
 * Starts a dynamically linked tool whose reads of `file` wait until the requested bytes are
 * downloaded: see container/launcher/watched-reads.c. Calls `onFailure` with the error of a failed
 * download. Also calls `onFailure` for a request that watched-reads.c never sends, which means that
 * hostile media control the tool. After a failure, the tool waits until its signal aborts.
 */
export function startProcessWithOnDemandFile(
  spec: ToolProcessSpec,
  file: OnDemandFile,
  onFailure: (error: unknown) => void,
): StartedToolProcess {
  let isAnswering = false
  let hasFailed = false
  let questions = 0
  async function answer(question: string): Promise<void> {
    questions += 1
    if (questions > QUESTIONS_MAX) throw new Error("A tool sent too many requests.")
    // Refuses requests while the tool has not read an earlier answer, since unread answers would
    // fill the runner's memory.
    if (isAnswering || (started.stdin?.writableLength ?? 0) > 0) {
      throw new Error("A tool sent a request before it had read the last answer.")
    }
    isAnswering = true
    const [, inode, offset, length] = QUESTION.exec(question) ?? []
    if (inode === undefined) throw new Error("A tool sent a malformed request.")
    const range = { start: Number(offset), end: Number(offset) + Number(length) }
    const isOther = BigInt(inode) !== file.inode
    if (!isOther && (range.start >= range.end || range.end > file.size)) {
      throw new Error("A tool requested a range outside of the file.")
    }
    const present = isOther ? EVERYTHING : await file.load(range)
    isAnswering = false
    started.stdin?.write(encode(present))
  }
  function answerNext(question: string): void {
    if (hasFailed) return
    answer(question).catch((error: unknown) => {
      if (hasFailed) return
      hasFailed = true
      onFailure(error)
    })
  }
  const started = startToolProcess({
    ...spec,
    tool: findLoader(spec.taskSandbox.sandbox) ?? "",
    argv: ["--preload", LAUNCHER_PROGRAMS.reads, findProgram(spec.tool), ...spec.argv],
    run: [spec.tool, ...(spec.run ?? [])],
    read: [LAUNCHER_PROGRAMS.reads, ...(spec.read ?? [])],
    stdin: { open: true },
    onProgressLine: answerNext,
  })
  return started
}

function findLoader({ paths }: Sandbox): string | undefined {
  return paths.loaders.find((path) => PRELOADING.test(basename(path)))
}

function encode({ start, end }: FileByteRange): Buffer {
  const numbers = new BigInt64Array([BigInt(start), BigInt(end)])
  return Buffer.from(numbers.buffer, 0, ANSWER_BYTES)
}
