import { randomBytes } from "node:crypto"
import type { Body } from "../local/client/caller.ts"

const MIB = 1024 ** 2
const BLOCKS = 16

export const GIB = 1024 * MIB

/** Incompressible bytes, generated as they are sent: a few random blocks, repeated. */
export function junk(sizeBytes: number): Pick<Body, "sizeBytes" | "chunks"> {
  const blocks = Array.from({ length: BLOCKS }, () => randomBytes(MIB))
  function* chunks(): Generator<Uint8Array> {
    for (let sent = 0; sent < sizeBytes; sent += MIB) {
      const block = blocks[(sent / MIB) % BLOCKS]
      if (block) yield block.subarray(0, Math.min(MIB, sizeBytes - sent))
    }
  }
  return { sizeBytes, chunks: { [Symbol.iterator]: chunks } }
}
