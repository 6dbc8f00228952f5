import { createHash } from "node:crypto"
import { generateBytes } from "./bytes.ts"
import type { SiteResponse } from "./visit.ts"

const HEAD_BYTES = 44
const CHANNELS = 2
const SAMPLES_A_SECOND = 48_000
const SAMPLE_BYTES = 2

/**
 * Returns a response with a generated WAV file of any size: a header, then the bytes of the seed.
 */
export function makeWavResponse(size: number, seed: number): SiteResponse {
  return {
    status: 200,
    type: "audio/wav",
    headers: {},
    size,
    read: (from, to) => readSound(size, seed, from, to),
    version: `sound-${seed}-${size}`,
  }
}

/** Returns all bytes of a generated WAV file. */
export function makeWavFile(size: number, seed: number): Buffer<ArrayBuffer> {
  return Buffer.concat([...readSound(size, seed, 0, size)])
}

/** Returns the SHA-256 of a generated WAV file, in hexadecimal. */
export function hashWavFile(size: number, seed: number): string {
  const hash = createHash("sha256")
  for (const chunk of readSound(size, seed, 0, size)) hash.update(chunk)
  return hash.digest("hex")
}

function* readSound(size: number, seed: number, from: number, to: number): Generator<Uint8Array> {
  if (from < HEAD_BYTES) yield headOf(size).subarray(from, to)
  if (to > HEAD_BYTES) yield* generateBytes(seed, Math.max(from, HEAD_BYTES), to)
}

function headOf(size: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  const frameBytes = CHANNELS * SAMPLE_BYTES
  head.write("RIFF", 0)
  head.writeUInt32LE(size - 8, 4)
  head.write("WAVEfmt ", 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(CHANNELS, 22)
  head.writeUInt32LE(SAMPLES_A_SECOND, 24)
  head.writeUInt32LE(SAMPLES_A_SECOND * frameBytes, 28)
  head.writeUInt16LE(frameBytes, 32)
  head.writeUInt16LE(SAMPLE_BYTES * 8, 34)
  head.write("data", 36)
  head.writeUInt32LE(size - HEAD_BYTES, 40)
  return head
}
