/**
 * Part of a multipart upload whose bytes go to R2 as they come, while a buffered part goes once it is
 * full. Its size must be known at its start.
 */
export type StreamedPart = {
  readonly sink: WritableStreamDefaultWriter<Uint8Array>
  /** Number of bytes that the part still lacks. */
  missingBytes: number
  /** Settles when R2 has the whole part, or has refused it. */
  readonly sent: Promise<void>
}

/** Starts to send a part by `send`, which gets its body. */
export function openStreamedPart(
  sizeBytes: number,
  send: (body: ReadableStream) => Promise<void>,
): StreamedPart {
  const { readable, writable } = new FixedLengthStream(sizeBytes)
  const sent = send(readable)
  // The next await of this promise reports its failure.
  sent.catch(() => undefined)
  return { sink: writable.getWriter(), missingBytes: sizeBytes, sent }
}

/**
 * Passes bytes to R2, until the part is full. Returns the bytes behind the part, which may be none.
 * The part has used the bytes up when this resolves.
 */
export async function fillStreamedPart(part: StreamedPart, bytes: Uint8Array): Promise<Uint8Array> {
  const taken = bytes.subarray(0, part.missingBytes)
  await orRefused(part, part.sink.write(taken))
  part.missingBytes -= taken.byteLength
  if (part.missingBytes === 0) await orRefused(part, part.sink.close())
  return bytes.subarray(taken.byteLength)
}

/** Waits for a step of a part. R2 stops reading a part that it refuses, whose step never ends. */
async function orRefused({ sent }: StreamedPart, step: Promise<void>): Promise<void> {
  step.catch(() => undefined)
  await Promise.race([step, sent])
}

/** Ends a part that will never be full, and waits until nothing of it is being sent. */
export async function dropStreamedPart(part: StreamedPart): Promise<void> {
  await Promise.allSettled([part.sink.abort(), part.sent])
}
