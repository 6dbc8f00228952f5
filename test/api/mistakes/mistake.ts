/** A caller's mistake, and the expected answer. */
export type Mistake = {
  mistake: string
  /** Path below /v1. */
  path: string
  init: (key: string) => RequestInit
  /** Origin of the request, if not the default host. */
  origin?: string
  status: number
  /** Faulty field; undefined if the answer has no details. */
  field?: string
  code: string
  /** Texts that the message must contain. */
  words: string[]
}

/** Returns a create with a JSON body. */
export function json(body: unknown): (key: string) => RequestInit {
  return (key) => ({
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  })
}

/** Returns a create of a command that writes a test picture to `out_1`, with changed fields. */
export function command(changes: object): (key: string) => RequestInit {
  const right = {
    ffmpeg_command: "ffmpeg -f lavfi -i testsrc2=duration=1 {{out_1}}",
    output_files: { out_1: "out.mp4" },
  }
  return json(Object.fromEntries(Object.entries({ ...right, ...changes }).filter(([, v]) => v)))
}
