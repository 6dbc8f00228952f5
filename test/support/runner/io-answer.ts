import { z } from "zod"

const completion = z.object({
  parts: z.array(z.object({ part_number: z.int(), etag: z.string() })).min(1),
})

/**
 * Returns the bytes of a request's body. Returns an error response instead if `content-length` is
 * missing (411) or differs from the length of the body (408).
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
 * Returns the stored parts that a request lists, in order. Returns an error response instead if the
 * list is invalid (400) or a part is not stored (409).
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
