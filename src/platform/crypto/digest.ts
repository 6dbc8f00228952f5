/** Digest of bytes that arrive in chunks. */
export type Digest = {
  write(bytes: Uint8Array): Promise<void>
  /** Ends the input, and returns the digest of all bytes. */
  finish(): Promise<Uint8Array>
}

/** Opens a digest by an algorithm of `crypto.DigestStream`, such as `SHA-256`. */
export function createDigest(algorithm: string): Digest {
  const stream = new crypto.DigestStream(algorithm)
  // Ignores the rejection of the digest, because nobody reads the digest of a failed upload.
  stream.digest.catch(() => undefined)
  const writer = stream.getWriter()
  return {
    write: async (bytes) => await writer.write(bytes),
    async finish() {
      await writer.close()
      return new Uint8Array(await stream.digest)
    },
  }
}
