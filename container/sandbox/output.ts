import type { ChildProcess } from "node:child_process"
import type { Readable } from "node:stream"

/** How much of a line is kept; a tool may print a line without an end. */
export const LINE_BYTES_MAX = 64 * 1024

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Collects the first bytes of a stream; the returned function reads them as text. */
export function keepHead(stream: Readable | null, bytesMax: number): () => string {
  const chunks: Buffer[] = []
  let bytes = 0
  stream?.on("data", (chunk: Buffer) => {
    const kept = chunk.subarray(0, bytesMax - bytes)
    bytes += kept.length
    // An empty slice would still keep its whole chunk in memory.
    if (kept.length > 0) chunks.push(kept)
  })
  return () => Buffer.concat(chunks).toString("utf8")
}

/** Collects the last bytes of a stream; the returned function reads them as text. */
export function keepTail(stream: Readable | null, bytesMax: number): () => string {
  let tail = Buffer.alloc(0)
  stream?.on("data", (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-bytesMax)
  })
  return () => tail.toString("utf8")
}

/** Counts the bytes of all pipes of a child; calls back for each chunk above the limit. */
export function limitOutput(
  { stdio }: ChildProcess,
  bytesMax: number,
  onExceeded: () => void,
): void {
  let bytes = 0
  for (const stream of stdio.filter(isReadable)) {
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > bytesMax) onExceeded()
    })
  }
}

/** Whether an entry of a child's `stdio` is a pipe that can be read. */
export function isReadable(stream: unknown): stream is Readable {
  return typeof stream === "object" && stream !== null && "read" in stream
}

/**
 * Calls back with each line of a stream, without its line ending and at most LINE_BYTES_MAX of it;
 * empty lines are skipped. Not node:readline: see docs/decisions/0014-read-lines-by-hand.md.
 */
export function eachLine(stream: Readable, onLine: (line: string) => void): void {
  const line = Buffer.alloc(LINE_BYTES_MAX)
  let length = 0
  function finishLine(): void {
    if (length > 0) onLine(line.toString("utf8", 0, length))
    length = 0
  }
  stream.on("data", (chunk: Buffer) => {
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      if (chunk[at] !== LINE_FEED && chunk[at] !== CARRIAGE_RETURN) continue
      length += chunk.copy(line, length, start, at)
      finishLine()
      start = at + 1
    }
    // Buffer.copy stops where the target is full.
    length += chunk.copy(line, length, start)
  })
  stream.on("end", finishLine)
}
