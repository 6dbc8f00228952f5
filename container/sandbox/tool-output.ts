import type { Readable } from "node:stream"

/** Maximum number of bytes that are kept of a line of output. A tool may print an endless line. */
export const TOOL_LINE_BYTES_MAX = 64 * 1024

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/**
 * Starts to collect the first bytes of a stream. The returned function returns the bytes collected
 * so far, decoded as text.
 */
export function collectFirstStreamBytes(stream: Readable | null, bytesMax: number): () => string {
  const chunks: Buffer[] = []
  let bytes = 0
  stream?.on("data", (chunk: Buffer) => {
    const kept = chunk.subarray(0, bytesMax - bytes)
    bytes += kept.length
    // Drops empty slices, which would keep a whole chunk of the stream in memory.
    if (kept.length > 0) chunks.push(kept)
  })
  return () => Buffer.concat(chunks).toString("utf8")
}

/**
 * Starts to collect the last bytes of a stream. The returned function returns the collected bytes,
 * decoded as text.
 */
export function collectLastStreamBytes(stream: Readable | null, bytesMax: number): () => string {
  let tail = Buffer.alloc(0)
  stream?.on("data", (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-bytesMax)
  })
  return () => tail.toString("utf8")
}

/**
 * Counts the bytes of several pipes of a child process together. Calls `onExceeded` for each chunk
 * after which the sum is above `bytesMax`.
 */
export function watchPipedBytes(
  stdio: readonly unknown[],
  bytesMax: number,
  onExceeded: () => void,
): void {
  let bytes = 0
  for (const stream of stdio.filter(isReadableStream)) {
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > bytesMax) onExceeded()
    })
  }
}

/** Reports whether an entry of `stdio` of a child process is a readable stream. */
export function isReadableStream(stream: unknown): stream is Readable {
  return typeof stream === "object" && stream !== null && "read" in stream
}

/**
 * Calls `onLine` with each non-empty line of a stream, without its line ending and cut to
 * TOOL_LINE_BYTES_MAX. docs/decisions/0014-read-lines-by-hand.md explains why node:readline is not
 * suitable.
 */
export function readStreamLines(stream: Readable, onLine: (line: string) => void): void {
  const line = Buffer.alloc(TOOL_LINE_BYTES_MAX)
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
    // Copies only bytes up to the limit, since Buffer.copy stops when the target buffer is full.
    length += chunk.copy(line, length, start)
  })
  stream.on("end", finishLine)
}
