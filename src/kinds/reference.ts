import { z } from "zod"
import { isS3Url } from "../contract/s3-url.ts"
import type { Fault } from "../faults.ts"
import { EXAMPLE_ID, isId } from "../ids.ts"
import { isFinal } from "../storage/schema/states.ts"
import { describeAddress, EXPECTED } from "../hints/addresses.ts"
import type { FoundInput } from "./kind.ts"
import { IMPORT_URL_LENGTH_MAX } from "./import-url.ts"
import { isOwnUrl } from "./own-url.ts"

/** An input in the example of a request: it stands for a file that the caller uploaded. */
export const EXAMPLE_INPUT = `svc_id://${EXAMPLE_ID}`

/** What an input reference means: a file of ours, a URL to bring in, or why it is neither. */
export type Reference =
  | { fileId: string }
  | { url: string }
  | { error: string; code?: "fetch_not_an_input" | "transcript_not_an_input" }

/** A field that names an input. */
export const inputReference = z
  .string(EXPECTED.input)
  .max(IMPORT_URL_LENGTH_MAX, `expected at most ${IMPORT_URL_LENGTH_MAX} characters`)

/** Reads an input reference; `origin` is this deployment's own, whose files are never fetched. */
export function readReference(text: string, origin: string): Reference {
  const byId = /^svc_id:\/\/([^/?#]+)\/?$/i.exec(text)?.[1]
  if (byId !== undefined && isId(byId)) return { fileId: byId.toLowerCase() }
  if (isS3Url(text)) return { url: text }
  const parsed = URL.parse(text)
  // What only looks like a URL of the web is judged, and refused, as one.
  const url = parsed && /^https?:$/.test(parsed.protocol) ? parsed : null
  if (url && !isOwnUrl(url, origin)) return { url: text }
  return (url && readOwn(url)) ?? { error: describeAddress(text, { use: "input", origin }) }
}

/** What a URL of this service names; null where that is neither a file nor what was one. */
function readOwn(url: URL): Reference | null {
  const [version, room, id = "", name] = url.pathname.split("/").slice(1)
  if (version !== "v1") return null
  if (room === "fetch") {
    const error = "what was fetched is no input: import the page with POST /files and file_url"
    return { error, code: "fetch_not_an_input" }
  }
  if (room === "transcribe") {
    const error = "a transcript is no input: download it and upload it with POST /files"
    return { error, code: "transcript_not_an_input" }
  }
  return room === "files" && name && isId(id) ? { fileId: id.toLowerCase() } : null
}

/** What is wrong with the file that an input names; `title` is that of the kind. */
export function judgeInput(title: string, { field, file, source }: FoundInput): Fault[] {
  if (source) return []
  if (!file) return [{ field, code: "no_such_file", message: "there is no such file" }]
  if (file.objectKey === null && isFinal(file.state)) {
    const why = `${file.errorCode ?? "internal"}: ${file.errorMessage ?? "its import failed"}`
    const message = `"${file.name}" could not be brought in (${why}); import it again`
    return [{ field, code: "input_failed", message }]
  }
  if (file.bundle === null) return []
  const message = `"${file.name}" is a series of files, and a ${title} takes single ones: download the one you need and upload it with POST /files`
  return [{ field, code: "series_as_input", message }]
}
