import { z } from "zod"

const completion = z.object({
  parts: z.array(z.object({ part_number: z.int(), etag: z.string() })).min(1),
})

/**
 * Reads the body of a request. Returns a response with status 411 without a `content-length`, or
 * 408 if the body has another length.
 */
export async function readBodyOfKnownLength(
  request: Request,
): Promise<Uint8Array<ArrayBuffer> | Response> {
  const length = request.headers.get("content-length")
  if (length === null) return makeStatusResponse(411)
  const bytes = new Uint8Array(await request.arrayBuffer())
  return length === String(bytes.length) ? bytes : makeStatusResponse(408)
}

/**
 * Returns the stored parts that a request lists, in order. Returns a response with status 400 for
 * an invalid list, or 409 if a part is not stored.
 */
export async function readListedParts(
  request: Request,
  stored: Map<number, Uint8Array<ArrayBuffer>>,
): Promise<Uint8Array<ArrayBuffer>[] | Response> {
  const body = completion.safeParse(await request.json().catch(() => null))
  if (!body.success) return makeStatusResponse(400)
  const numbers = body.data.parts.map(({ part_number }) => part_number)
  if (numbers.some((number, index) => number !== index + 1)) return makeStatusResponse(400)
  const parts = numbers.flatMap((number) => stored.get(number) ?? [])
  return parts.length === numbers.length ? parts : makeStatusResponse(409)
}

export function makeStatusResponse(status: number): Response {
  return Response.json({ status }, { status })
}
