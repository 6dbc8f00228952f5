import { open } from "node:fs/promises"
import type { FileHandle } from "node:fs/promises"
import type { TaskInput } from "../../src/contract/task.ts"
import { RunnerError } from "../failures.ts"
import type { Stretch, WatchedFile } from "../sandbox/watched-reads.ts"
import type { TransferContext } from "./io-client.ts"
import { retry, transferRetryPolicy } from "./promises.ts"

/** An input of which only what was asked for is there; the rest are holes. */
export type PartialFile = WatchedFile & {
  /** Whether its first byte was asked for, which no reader does without. */
  wasAsked(): boolean
  /** How long was waited for what was asked for. */
  waitedMs(): number
  close(): Promise<void>
}

const READ_ONLY_MODE = 0o444
const MIB = 1024 ** 2
const HEAD_BYTES = 2 * MIB
const TAIL_BYTES = MIB
/** What is brought around a read; more of it where reads follow each other. */
const STRETCH_BYTES_MIN = MIB / 2
const STRETCH_BYTES_MAX = 16 * MIB
/** A file of which more is read is brought as a whole, which is faster. */
const STRETCHES_MAX = 24
const SHARE_MAX = 0.5

/**
 * Makes the file of an input at a path, with its full size, and brings its head and its tail. What
 * else is read of it is brought when it is asked for; throws where that is too much.
 */
export async function openPartialFile(
  context: TransferContext,
  input: TaskInput,
  path: string,
): Promise<PartialFile> {
  const { size_bytes: size } = input
  const handle = await open(path, "wx", READ_ONLY_MODE)
  const stretches: Stretch[] = []
  const plan = openPlan(size)
  let hasAskedFirst = false
  let waitedMs = 0
  async function fetch(stretch: Stretch): Promise<void> {
    plan.count(stretch)
    await retry(transferRetryPolicy(context.signal), () =>
      fetchStretch(context, input, handle, stretch),
    )
    addStretch(stretches, stretch)
  }
  async function bring({ start, end }: Stretch): Promise<Stretch> {
    await ends
    for (;;) {
      const there = stretches.find((each) => each.start <= start && start < each.end)
      if (there && there.end >= end) return there
      await fetch(plan.next({ start: there?.end ?? start, end }, stretches))
    }
  }
  await handle.truncate(size)
  const { ino: inode } = await handle.stat({ bigint: true })
  const ends = Promise.all([
    fetch({ start: 0, end: HEAD_BYTES }),
    fetch({ start: size - TAIL_BYTES, end: size }),
  ])
  // Whoever asks first hears of its failure.
  ends.catch(() => undefined)
  return {
    inode,
    size,
    async bring(wanted) {
      if (wanted.start === 0) hasAskedFirst = true
      const askedMs = performance.now()
      try {
        return await bring(wanted)
      } finally {
        waitedMs += performance.now() - askedMs
      }
    },
    wasAsked: () => hasAskedFirst,
    waitedMs: () => waitedMs,
    async close() {
      await ends.catch(() => undefined)
      await handle.close()
    },
  }
}

/** Decides how much is brought for a read; `count` throws where it becomes too much. */
function openPlan(size: number) {
  let brought = { count: 0, bytes: 0 }
  let latest = { end: 0, bytes: STRETCH_BYTES_MIN }
  return {
    next({ start, end: until }: Stretch, stretches: readonly Stretch[]): Stretch {
      const isNext = start === latest.end
      const bytes = isNext ? Math.min(STRETCH_BYTES_MAX, latest.bytes * 2) : STRETCH_BYTES_MIN
      const limit = stretches.find((stretch) => stretch.start > start)?.start ?? size
      const end = Math.min(limit, Math.max(until, start + bytes))
      latest = { end, bytes }
      return { start, end }
    },
    count({ start, end }: Stretch): void {
      brought = { count: brought.count + 1, bytes: brought.bytes + end - start }
      if (brought.count <= STRETCHES_MAX && brought.bytes <= size * SHARE_MAX) return
      throw new Error("So much of the file is read that it is better brought as a whole.")
    },
  }
}

async function fetchStretch(
  { io, signal }: TransferContext,
  input: TaskInput,
  handle: FileHandle,
  { start, end }: Stretch,
): Promise<void> {
  const range = `bytes=${start}-${end - 1}`
  const answer = await io.read(`/inputs/${input.key}`, { headers: { range }, signal })
  const { "content-range": sent } = answer.headers
  if (answer.statusCode !== 206 || sent !== `bytes ${start}-${end - 1}/${input.size_bytes}`) {
    answer.destroy()
    // Another attempt would be answered the same.
    throw new RunnerError("input_failed", `${range} was answered by ${sent ?? "the whole"}.`)
  }
  let at = start
  const chunks: AsyncIterable<Uint8Array> = answer
  for await (const chunk of chunks) {
    const { bytesWritten } = await handle.write(chunk, 0, chunk.length, at)
    if (bytesWritten < chunk.length) throw new Error("Not all could be written.")
    at += bytesWritten
  }
  if (at !== end) throw new Error(`${range} was answered by ${at - start} bytes.`)
}

/** Adds a stretch to those that are there, in order, as one with those that it touches. */
function addStretch(stretches: Stretch[], added: Stretch): void {
  const touching = stretches.filter(({ start, end }) => start <= added.end && added.start <= end)
  const others = stretches.filter((each) => !touching.includes(each))
  const start = Math.min(added.start, ...touching.map((each) => each.start))
  const end = Math.max(added.end, ...touching.map((each) => each.end))
  const joined = [...others, { start, end }].toSorted((one, other) => one.start - other.start)
  stretches.splice(0, stretches.length, ...joined)
}
