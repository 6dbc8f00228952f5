/**
 * Reads the body of a request or response as text. Returns null, and stops reading, if the body has
 * more than `bytesMax` bytes.
 */
export async function readBoundedText(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) return null
    chunks.push(chunk)
  }
  return await new Blob(chunks).text()
}
