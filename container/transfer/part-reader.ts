import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { z } from "zod"

/** Reader that divides the body of a download into parts for an upload. */
export type PartReader = {
  /**
   * Fills a buffer with the next bytes of the body. Returns the number of bytes, which is smaller
   * than the buffer only at the end of the body.
   */
  fill(buffer: Buffer): Promise<number>
}

/**
 * Opens a reader that divides the body of a download into parts. Calls `onBytes` with all bytes in
 * order, for example to hash them.
 */
export function createPartReader(
  body: AsyncIterable<Uint8Array>,
  onBytes: (bytes: Uint8Array) => void = () => undefined,
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
        const piece = left.subarray(0, buffer.length - filled)
        buffer.set(piece, filled)
        filled += piece.length
        left = left.subarray(piece.length)
        onBytes(piece)
        collector.copied(piece.length)
      }
      return filled
    },
  }
}

const COLLECTION_INTERVAL_BYTES = 1024 * 1024

const collect = z.custom<(options: { type: "minor" }) => void>(
  (value) => typeof value === "function",
)
type Collect = z.infer<typeof collect>

/**
 * Cached function that runs the garbage collector of this process. The lookup of the function
 * creates a new V8 context, so the function is looked up only once.
 */
let cached: { gc: Collect | undefined } | null = null

/**
 * Returns a counter of copied bytes that regularly runs the garbage collector. Chunks of bodies are
 * stored outside of the heap, so V8 hardly counts the chunks and would keep about 60 MB of unused
 * chunks. A minor collection visits only young objects and takes less than a millisecond.
 */
function openChunkCollector(): { copied(bytes: number): void } {
  const { gc } = (cached ??= findCollector())
  let copiedBytes = 0
  return {
    copied(bytes) {
      copiedBytes += bytes
      if (copiedBytes < COLLECTION_INTERVAL_BYTES) return
      copiedBytes = 0
      gc?.({ type: "minor" })
    },
  }
}

function findCollector(): { gc: Collect | undefined } {
  setFlagsFromString("--expose-gc")
  return { gc: collect.safeParse(runInNewContext("globalThis.gc")).data }
}
