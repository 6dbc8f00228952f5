import { open } from "node:fs/promises"
import type { FileHandle } from "node:fs/promises"
import type { TaskInput } from "../../src/contract/task.ts"
import { RunnerError } from "../task-failure.ts"
import type { FileByteRange, OnDemandFile } from "../sandbox/watched-reads.ts"
import type { TransferContext } from "./worker-client.ts"
import { retryWithBackoff, transferRetryPolicy } from "./concurrency-and-retry.ts"

/**
 * Input file in the workspace of which only requested ranges are downloaded. The other ranges are
 * holes in a sparse file.
 */
export type PartialInputFile = OnDemandFile & {
  /**
   * Reports whether a tool has read the file. The first byte serves as evidence, because a tool
   * that reads a file always reads its first byte.
   */
  wasRead(): boolean
  /** Returns the total time for which reads have waited for downloads, in milliseconds. */
  waitedMs(): number
  close(): Promise<void>
}

const READ_ONLY_MODE = 0o444
const MIB = 1024 ** 2
const HEAD_BYTES = 2 * MIB
const TAIL_BYTES = MIB
/**
 * Minimum and maximum number of bytes that are downloaded for one read. The number doubles with
 * each sequential read.
 */
const RANGE_BYTES_MIN = MIB / 2
const RANGE_BYTES_MAX = 16 * MIB
/**
 * Maximum number of ranges that are downloaded, and maximum share of the file that is downloaded.
 * Beyond these limits, a full download is faster.
 */
const RANGES_MAX = 24
const SHARE_MAX = 0.5

/**
 * Creates the sparse file of an input, as large as the input, and starts to download the start and
 * the end of the input. Other ranges are downloaded on request. A request fails if all requests
 * together exceed the limits of a partial download.
 */
export async function createPartialInputFile(
  context: TransferContext,
  input: TaskInput,
  path: string,
): Promise<PartialInputFile> {
  const { size_bytes: size } = input
  const handle = await open(path, "wx", READ_ONLY_MODE)
  const ranges: FileByteRange[] = []
  const plan = openRangePlan(size)
  let hasReadFirstByte = false
  let waitedMs = 0
  async function fetch(range: FileByteRange): Promise<void> {
    plan.count(range)
    await retryWithBackoff(transferRetryPolicy(context.signal), () =>
      fetchRange(context, input, handle, range),
    )
    addRange(ranges, range)
  }
  async function load({ start, end }: FileByteRange): Promise<FileByteRange> {
    await ends
    for (;;) {
      const present = ranges.find((each) => each.start <= start && start < each.end)
      if (present && present.end >= end) return present
      await fetch(plan.next({ start: present?.end ?? start, end }, ranges))
    }
  }
  await handle.truncate(size)
  const { ino: inode } = await handle.stat({ bigint: true })
  const ends = Promise.all([
    fetch({ start: 0, end: HEAD_BYTES }),
    fetch({ start: size - TAIL_BYTES, end: size }),
  ])
  // Prevents an unhandled rejection if the first downloads fail. Each request for a range waits for
  // these downloads and reports the failure.
  ends.catch(() => undefined)
  return {
    inode,
    size,
    async load(range) {
      if (range.start === 0) hasReadFirstByte = true
      const askedMs = performance.now()
      try {
        return await load(range)
      } finally {
        waitedMs += performance.now() - askedMs
      }
    },
    wasRead: () => hasReadFirstByte,
    waitedMs: () => waitedMs,
    async close() {
      await ends.catch(() => undefined)
      await handle.close()
    },
  }
}

/**
 * Creates the plan of the ranges to download. `next` returns the range to download for a read.
 * `count` counts a downloaded range, and throws if the limits are exceeded.
 */
function openRangePlan(size: number) {
  let total = { count: 0, bytes: 0 }
  let latest = { end: 0, bytes: RANGE_BYTES_MIN }
  return {
    next({ start, end: until }: FileByteRange, ranges: readonly FileByteRange[]): FileByteRange {
      const isNext = start === latest.end
      const bytes = isNext ? Math.min(RANGE_BYTES_MAX, latest.bytes * 2) : RANGE_BYTES_MIN
      const limit = ranges.find((range) => range.start > start)?.start ?? size
      const end = Math.min(limit, Math.max(until, start + bytes))
      latest = { end, bytes }
      return { start, end }
    },
    count({ start, end }: FileByteRange): void {
      total = { count: total.count + 1, bytes: total.bytes + end - start }
      if (total.count <= RANGES_MAX && total.bytes <= size * SHARE_MAX) return
      throw new Error("So much of the file is read that a full download is faster.")
    },
  }
}

async function fetchRange(
  { io, signal }: TransferContext,
  input: TaskInput,
  handle: FileHandle,
  { start, end }: FileByteRange,
): Promise<void> {
  const range = `bytes=${start}-${end - 1}`
  const answer = await io.read(`/inputs/${input.key}`, { headers: { range }, signal })
  const { "content-range": sent } = answer.headers
  if (answer.statusCode !== 206 || sent !== `bytes ${start}-${end - 1}/${input.size_bytes}`) {
    answer.destroy()
    // Throws an error that is not retried, since another attempt would get the same response.
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

/**
 * Adds a range to a sorted list of ranges. Merges the new range with all ranges that it overlaps or
 * touches.
 */
function addRange(ranges: FileByteRange[], added: FileByteRange): void {
  const touching = ranges.filter(({ start, end }) => start <= added.end && added.start <= end)
  const others = ranges.filter((each) => !touching.includes(each))
  const start = Math.min(added.start, ...touching.map((each) => each.start))
  const end = Math.max(added.end, ...touching.map((each) => each.end))
  const joined = [...others, { start, end }].toSorted((one, other) => one.start - other.start)
  ranges.splice(0, ranges.length, ...joined)
}
