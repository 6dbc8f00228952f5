import { randomBytes } from "node:crypto"
import type { SizedRequestBody } from "../cli/client/caller.ts"

const MIB = 1024 ** 2
const BLOCKS = 16

export const BYTES_PER_GIB = 1024 * MIB

/**
 * Returns a request body of incompressible bytes: a few random blocks, which are repeated while the
 * body is sent.
 */
export function makeIncompressibleBody(
  sizeBytes: number,
): Pick<SizedRequestBody, "sizeBytes" | "chunks"> {
  const blocks = Array.from({ length: BLOCKS }, () => randomBytes(MIB))
  function* chunks(): Generator<Uint8Array> {
    for (let sent = 0; sent < sizeBytes; sent += MIB) {
      const block = blocks[(sent / MIB) % BLOCKS]
      if (block) yield block.subarray(0, Math.min(MIB, sizeBytes - sent))
    }
  }
  return { sizeBytes, chunks: { [Symbol.iterator]: chunks } }
}
