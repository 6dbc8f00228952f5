/**
 * Reads the first bytes of a body without consuming the body. Returns the first bytes, or fewer if
 * the body is shorter, and a new body that contains all bytes.
 */
export async function peekBodyStart(
  body: AsyncIterable<Uint8Array>,
  bytes: number,
): Promise<{ head: Buffer; whole: AsyncGenerator<Uint8Array> }> {
  const rest = body[Symbol.asyncIterator]()
  const chunks: Uint8Array[] = []
  let length = 0
  while (length < bytes) {
    const next = await rest.next()
    if (next.done === true) break
    chunks.push(next.value)
    length += next.value.length
  }
  return { head: Buffer.concat(chunks).subarray(0, bytes), whole: join(chunks, rest) }
}

async function* join(
  chunks: Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
    for (;;) {
      const next = await rest.next()
      if (next.done === true) return
      yield next.value
    }
  } finally {
    await rest.return?.()
  }
}
