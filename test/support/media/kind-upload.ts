import type { Caller } from "../caller.ts"

export type Part = [name: string, value: string | File]

/** Returns a file for a multipart form. The tested kinds of jobs do not read its content. */
export function media(content = "bytes", name = "talk.wav"): File {
  return new File([content], name)
}

/** Sends a multipart form to POST /normalize. */
export function sendForm(
  caller: Caller,
  parts: Part[],
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new FormData()
  for (const [name, part] of parts) body.append(name, part)
  return caller.call("/normalize", { method: "POST", body, headers })
}
