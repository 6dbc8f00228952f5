import type { Caller } from "../caller.ts"

export type Part = [name: string, value: string | File]

/** A file of a form; the kinds of these tests do not look into it. */
export function media(content = "bytes", name = "talk.wav"): File {
  return new File([content], name)
}

/** Sends a normalization as a form. */
export function sendForm(
  caller: Caller,
  parts: Part[],
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new FormData()
  for (const [name, part] of parts) body.append(name, part)
  return caller.call("/normalize", { method: "POST", body, headers })
}
