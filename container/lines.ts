import type { Readable } from "node:stream"

/** What is kept of a line; what a tool says has no end that it must keep to. */
export const LINE_BYTES_MAX = 64 * 1024

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Hears each line of a stream without its end, and of a long one its head; no empty lines. */
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
    // It copies no more than there is room for.
    length += chunk.copy(line, length, start)
  })
  stream.on("end", finishLine)
}
