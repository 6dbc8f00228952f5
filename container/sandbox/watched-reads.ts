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
  /** Brings what is about to be read; answers the stretch around it that is there then. */
  bring(wanted: Stretch): Promise<Stretch>
}

/** Loaders that can load a library before those of a program. */
const PRELOADING = /^ld-linux-/
const EVERYTHING = { start: 0, end: Number.MAX_SAFE_INTEGER }
const QUESTION = /^(\d+) (\d+) (\d+)$/
const ANSWER_BYTES = 16

/** Whether tools can be started so that their reads are watched. */
export function canWatchReads(sandbox: Sandbox): boolean {
  return findLoader(sandbox) !== undefined && existsSync(PROGRAMS.reads)
}

/**
 * Starts a dynamically linked tool that has the bytes of `file` brought before it reads them: see
 * container/launcher/reads.c. What `bring` throws goes to `onFailure`, and then the tool waits until
 * its signal aborts.
 */
export function startWatched(
  spec: ProcessSpec,
  file: WatchedFile,
  onFailure: (error: unknown) => void,
): StartedProcess {
  async function answer(question: string): Promise<void> {
    const [, asked, offset, length] = QUESTION.exec(question) ?? []
    if (asked === undefined) throw new Error("A tool asked for nothing that can be read.")
    const start = Number(offset)
    const isOther = BigInt(asked) !== file.inode
    const there = isOther ? EVERYTHING : await file.bring({ start, end: start + Number(length) })
    started.stdin?.write(encode(there))
  }
  const started = startProcess({
    ...spec,
    tool: findLoader(spec.taskSandbox.sandbox) ?? "",
    argv: ["--preload", PROGRAMS.reads, findProgram(spec.tool), ...spec.argv],
    run: [spec.tool, ...(spec.run ?? [])],
    read: [PROGRAMS.reads, ...(spec.read ?? [])],
    stdin: { open: true },
    onProgressLine: (line) => void answer(line).catch(onFailure),
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
