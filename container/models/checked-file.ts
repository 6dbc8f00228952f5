import { createHash } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import { stat } from "node:fs/promises"
import { Writable } from "node:stream"
import { pipeline } from "node:stream/promises"

/** Expected size and SHA-256 of a file. */
export type ExpectedFile = { bytes: number; sha256: string }

/**
 * Writes a new file, and checks its size and SHA-256. If the size or the hash is wrong, throws an
 * Error whose message follows the name of a file, such as "ended after 5 of 9 bytes".
 */
export async function writeVerifiedFile(
  source: AsyncIterable<Uint8Array>,
  path: string,
  { bytes, sha256 }: ExpectedFile,
): Promise<void> {
  const hash = createHash("sha256")
  let written = 0
  async function* check() {
    for await (const chunk of source) {
      written += chunk.length
      if (written > bytes) throw new Error(`has more than the expected ${bytes} bytes`)
      hash.update(chunk)
      yield chunk
    }
  }
  await pipeline(check, createWriteStream(path, { flags: "wx" }))
  if (written < bytes) throw new Error(`ended after ${written} of ${bytes} bytes`)
  const found = hash.digest("hex")
  if (found !== sha256) throw new Error(`has the SHA-256 ${found} instead of ${sha256}`)
}

/** Reports whether a file exists and has the expected size and SHA-256. */
export async function hasExpectedContent(path: string, expected: ExpectedFile): Promise<boolean> {
  if (!(await hasExpectedSize(path, expected))) return false
  const hash = createHash("sha256")
  await pipeline(createReadStream(path), hashing(hash))
  return hash.digest("hex") === expected.sha256
}

/** Reports whether a file exists and has the expected size. */
export async function hasExpectedSize(path: string, { bytes }: ExpectedFile): Promise<boolean> {
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
