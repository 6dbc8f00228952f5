import type { TestCaller } from "../caller.ts"

export type FormPart = [name: string, value: string | File]

/**
 * Returns a file for a multipart form. Its content is no real media, because these tests run no
 * media tool.
 */
export function makeFormFile(content = "bytes", name = "talk.wav"): File {
  return new File([content], name)
}

/** Sends a multipart form to POST /normalize. */
export function postNormalizeForm(
  caller: TestCaller,
  parts: FormPart[],
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new FormData()
  for (const [name, part] of parts) body.append(name, part)
  return caller.call("/normalize", { method: "POST", body, headers })
}
