import { z } from "zod"

const completion = z.object({
  parts: z.array(z.object({ part_number: z.int(), etag: z.string() })).min(1),
})

/** The body of a request; a refusal where its length is not announced (411), or is another (408). */
export async function readBody(request: Request): Promise<Uint8Array<ArrayBuffer> | Response> {
  const length = request.headers.get("content-length")
  if (length === null) return reply(411)
  const bytes = new Uint8Array(await request.arrayBuffer())
  return length === String(bytes.length) ? bytes : reply(408)
}

/** The stored parts that a request names, in order; a refusal where it names none (400), or one that is not stored (409). */
export async function readParts(
  request: Request,
  stored: Map<number, Uint8Array<ArrayBuffer>>,
): Promise<Uint8Array<ArrayBuffer>[] | Response> {
  const body = completion.safeParse(await request.json().catch(() => null))
  if (!body.success) return reply(400)
  const numbers = body.data.parts.map(({ part_number }) => part_number)
  if (numbers.some((number, index) => number !== index + 1)) return reply(400)
  const parts = numbers.flatMap((number) => stored.get(number) ?? [])
  return parts.length === numbers.length ? parts : reply(409)
}

export function reply(status: number): Response {
  return Response.json({ status }, { status })
}
