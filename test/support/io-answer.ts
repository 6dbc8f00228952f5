/** The body of a request; null where its length is not declared, or wrong. */
export async function readBody(request: Request): Promise<Uint8Array<ArrayBuffer> | null> {
  const bytes = new Uint8Array(await request.arrayBuffer())
  return request.headers.get("content-length") === String(bytes.length) ? bytes : null
}

export function reply(status: number): Response {
  return Response.json({ status }, { status })
}
