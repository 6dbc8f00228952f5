import { openChunkCollector } from "./chunk-collector.ts"

/** Cuts a body into parts. */
export type PartReader = {
  /** Fills a buffer from the body; fewer bytes than it has room for where the body ends. */
  fill(buffer: Buffer): Promise<number>
}

/** Opens one; `seen` is told of all bytes, in their order. */
export function openPartReader(
  body: AsyncIterable<Uint8Array>,
  seen: (bytes: Uint8Array) => void = () => undefined,
): PartReader {
  const chunks = body[Symbol.asyncIterator]()
  const collector = openChunkCollector()
  let left: Uint8Array = new Uint8Array()
  return {
    async fill(buffer) {
      let filled = 0
      while (filled < buffer.length) {
        if (left.length === 0) {
          const next = await chunks.next()
          if (next.done === true) break
          left = next.value
        }
        const taken = left.subarray(0, buffer.length - filled)
        buffer.set(taken, filled)
        filled += taken.length
        left = left.subarray(taken.length)
        seen(taken)
        collector.copied(taken.length)
      }
      return filled
    },
  }
}
