/**
 * Part of a multipart upload whose bytes are sent to R2 as they arrive. A buffered part, in
 * contrast, is sent when it is full. The size of a streamed part must be known at its start.
 */
export type StreamedPart = {
  readonly sink: WritableStreamDefaultWriter<Uint8Array>
  /** Number of bytes that the part still lacks. */
  missingBytes: number
  /** Promise that settles when R2 has received the whole part, or has refused it. */
  readonly sent: Promise<void>
}

/** Starts to send a part by `send`, which gets a stream of the part's bytes as the request body. */
export function startStreamedPart(
  sizeBytes: number,
  send: (body: ReadableStream) => Promise<void>,
): StreamedPart {
  const { readable, writable } = new FixedLengthStream(sizeBytes)
  const sent = send(readable)
  // Prevents an unhandled rejection; the next `await` of the promise still throws the error.
  sent.catch(() => undefined)
  return { sink: writable.getWriter(), missingBytes: sizeBytes, sent }
}

/**
 * Passes bytes to R2, until the part is full. Returns the bytes that do not fit into the part,
 * possibly none. The caller may reuse the buffer of the bytes when the promise resolves.
 */
export async function fillStreamedPart(part: StreamedPart, bytes: Uint8Array): Promise<Uint8Array> {
  const taken = bytes.subarray(0, part.missingBytes)
  await orRefused(part, part.sink.write(taken))
  part.missingBytes -= taken.byteLength
  if (part.missingBytes === 0) await orRefused(part, part.sink.close())
  return bytes.subarray(taken.byteLength)
}

/**
 * Waits for a write to a streamed part (or its close), or for an error of the part's upload. If R2
 * refuses a part, it stops reading the part's bytes, so that the write alone might never end.
 */
async function orRefused({ sent }: StreamedPart, step: Promise<void>): Promise<void> {
  step.catch(() => undefined)
  await Promise.race([step, sent])
}

/** Ends a part that will never be full, and waits until none of its bytes are being sent. */
export async function abortStreamedPart(part: StreamedPart): Promise<void> {
  await Promise.allSettled([part.sink.abort(), part.sent])
}
