import { createHash } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import { stat } from "node:fs/promises"
import { Writable } from "node:stream"
import { pipeline } from "node:stream/promises"

/** The size and the SHA-256 that a file is to have. */
export type Expected = { bytes: number; sha256: string }

/** Writes a new file; throws a sentence's end where the bytes are not those that are expected. */
export async function writeChecked(
  source: AsyncIterable<Uint8Array>,
  path: string,
  { bytes, sha256 }: Expected,
): Promise<void> {
  const hash = createHash("sha256")
  let written = 0
  async function* check() {
    for await (const chunk of source) {
      written += chunk.length
      if (written > bytes) throw new Error(`has more than the ${bytes} bytes that are expected`)
      hash.update(chunk)
      yield chunk
    }
  }
  await pipeline(check, createWriteStream(path, { flags: "wx" }))
  if (written < bytes) throw new Error(`ended after ${written} of ${bytes} bytes`)
  const found = hash.digest("hex")
  if (found !== sha256) throw new Error(`has the SHA-256 ${found}, and not ${sha256}`)
}

/** Whether a file is the one that is expected, by its size and hash. */
export async function isExpected(path: string, expected: Expected): Promise<boolean> {
  if (!(await hasSize(path, expected))) return false
  const hash = createHash("sha256")
  await pipeline(createReadStream(path), hashing(hash))
  return hash.digest("hex") === expected.sha256
}

/** Whether a file is there with the size that is expected. */
export async function hasSize(path: string, { bytes }: Expected): Promise<boolean> {
  const facts = await stat(path).catch(() => null)
  return facts !== null && facts.isFile() && facts.size === bytes
}

function hashing(hash: ReturnType<typeof createHash>): Writable {
  return new Writable({
    write(chunk: Uint8Array, _, done) {
      hash.update(chunk)
      done()
    },
  })
}
