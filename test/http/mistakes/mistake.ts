/** A mistake of a caller's, and what the answer to it must say. */
export type Mistake = {
  mistake: string
  /** Below /v1. */
  path: string
  init: (key: string) => RequestInit
  /** Where the request comes to, if not to a host of the web. */
  origin?: string
  status: number
  /** The field at fault; none where the answer has no details. */
  field?: string
  code: string
  /** What the message holds. */
  words: string[]
}

/** A create by JSON that has this body. */
export function json(body: unknown): (key: string) => RequestInit {
  return (key) => ({
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  })
}

/** A create of a command that makes a test picture into `out_1`, with other fields. */
export function command(changes: object): (key: string) => RequestInit {
  const right = {
    ffmpeg_command: "ffmpeg -f lavfi -i testsrc2=duration=1 {{out_1}}",
    output_files: { out_1: "out.mp4" },
  }
  return json(Object.fromEntries(Object.entries({ ...right, ...changes }).filter(([, v]) => v)))
}
