import { isS3Url } from "../contract/urls/s3-url.ts"
import type { Fault } from "../domain/faults.ts"
import { EXAMPLE_ID, isId } from "../platform/ids.ts"
import { isFinal } from "../domain/states.ts"
import { describeAddressFault, EXPECTED_ADDRESSES } from "../hints/addresses.ts"
import type { ResolvedInput } from "./kind.ts"
import { inputTextSchema, inputValueSchema, getInputUrl } from "./private-input.ts"
import type { InputValue } from "./private-input.ts"
import { isOwnUrl } from "../domain/own-url.ts"

/** Input in the example requests of the documentation; stands for an uploaded File. */
export const EXAMPLE_INPUT = `svc_id://${EXAMPLE_ID}`

/** Parsed input reference: the id of a File, a URL to import, or an error. */
export type ParsedReference =
  | { fileId: string }
  | { url: string }
  | { error: string; code?: "fetch_not_an_input" | "transcript_not_an_input" }

/** Schema of a field that names an input. */
export const inputReferenceSchema = inputValueSchema(
  inputTextSchema(EXPECTED_ADDRESSES.input),
  EXPECTED_ADDRESSES.input,
)

/**
 * Parses an input reference. `origin` is the origin of this deployment; a URL with this origin
 * names a File by its id and is never downloaded.
 */
export function readInputReference(input: InputValue, origin: string): ParsedReference {
  const read = readText(getInputUrl(input), origin)
  if (typeof input === "string" || !("fileId" in read)) return read
  return { error: "expected the URL of another server, because Files take no headers" }
}

function readText(text: string, origin: string): ParsedReference {
  const byId = /^svc_id:\/\/([^/?#]+)\/?$/i.exec(text)?.[1]
  if (byId !== undefined && isId(byId)) return { fileId: byId.toLowerCase() }
  if (isS3Url(text)) return { url: text }
  const parsed = URL.parse(text)
  // Accepts any other web URL; `readImportUrl` later rejects a URL that the rules do not allow.
  const url = parsed && /^https?:$/.test(parsed.protocol) ? parsed : null
  if (url && !isOwnUrl(url, origin)) return { url: text }
  return (
    (url && readServiceUrl(url)) ?? { error: describeAddressFault(text, { use: "input", origin }) }
  )
}

/** Parses a URL of this service; null if the URL names neither a File nor another output. */
function readServiceUrl(url: URL): ParsedReference | null {
  const [version, room, id = "", name] = url.pathname.split("/").slice(1)
  if (version !== "v1") return null
  if (room === "fetch") {
    const error = "fetched media cannot be an input: import the page with POST /files and file_url"
    return { error, code: "fetch_not_an_input" }
  }
  if (room === "transcribe") {
    const error = "a transcript cannot be an input: download it and upload it with POST /files"
    return { error, code: "transcript_not_an_input" }
  }
  return room === "files" && name && isId(id) ? { fileId: id.toLowerCase() } : null
}

/** Returns the faults of the File that an input names; `title` is the noun for the kind of job. */
export function findInputFileFaults(
  title: string,
  { field, file, source }: ResolvedInput,
): Fault[] {
  if (source) return []
  if (!file) return [{ field, code: "no_such_file", message: "the account has no such file" }]
  if (file.objectKey === null && isFinal(file.state)) {
    const why = `${file.errorCode ?? "internal"}: ${file.errorMessage ?? "its import failed"}`
    const message = `"${file.name}" could not be imported (${why}); import it again`
    return [{ field, code: "input_failed", message }]
  }
  if (file.bundle === null) return []
  const message = `"${file.name}" is a series of files, and a ${title} takes single files: download the needed file and upload it with POST /files`
  return [{ field, code: "series_as_input", message }]
}
