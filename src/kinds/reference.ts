import { isS3Url } from "../contract/urls/s3-url.ts"
import type { Fault } from "../domain/faults.ts"
import { EXAMPLE_ID, isId } from "../platform/ids.ts"
import { findBundleKind } from "../contract/bundle.ts"
import { isCallerFileSource, isFinalState } from "../domain/states.ts"
import type { File } from "../db/schema/files.ts"
import { describeAddressFault, EXPECTED_ADDRESS_CLAUSES } from "../hints/addresses.ts"
import type { ResolvedInput } from "./kind.ts"
import { makeInputTextSchema, makeInputValueSchema, getInputUrl } from "./private-input.ts"
import type { InputValue } from "./private-input.ts"
import { isUrlOfDeployment } from "../domain/own-url.ts"

/** Input in the example requests of the documentation. The id stands for an uploaded file. */
export const EXAMPLE_INPUT_REFERENCE = `svc_id://${EXAMPLE_ID}`

/**
 * Parsed input reference: the id of a stored file, an output of another job, a URL to import, or an
 * error. The other job is named by its id, or by its name in the same batch.
 */
export type ParsedInputReference =
  | { fileId: string }
  | { jobId: string; output: string }
  | { jobName: string; output: string }
  | { url: string }
  | { error: string; code?: "fetch_not_an_input" | "transcript_not_an_input" }

/** Names of jobs in a batch. A name is shorter than an id, so that a reference is unambiguous. */
export const JOB_NAME_PATTERN = /^[a-z][a-z0-9_-]{0,31}$/

/**
 * Returns the text of a reference to an output of a job, by the job's id or its name in a batch.
 */
export function formatOutputReference(job: string, output: string): string {
  return `svc_id://${job}/${output}`
}

/** Schema of a field that names an input. */
export const inputReferenceSchema = makeInputValueSchema(
  makeInputTextSchema(EXPECTED_ADDRESS_CLAUSES.input),
  EXPECTED_ADDRESS_CLAUSES.input,
)

/**
 * Parses a reference to an input. `origin` is the origin of this deployment. A URL with this origin
 * names a File by its id and is never downloaded.
 */
export function parseInputReference(input: InputValue, origin: string): ParsedInputReference {
  const read = readText(getInputUrl(input), origin)
  if (typeof input === "string" || "url" in read || "error" in read) return read
  return { error: "expected the URL of another server, because Files take no headers" }
}

function readText(text: string, origin: string): ParsedInputReference {
  const [, name = "", output] = /^svc_id:\/\/([^/?#]+)(?:\/([^/?#]*))?$/i.exec(text) ?? []
  if (isId(name)) {
    const id = name.toLowerCase()
    return output ? { jobId: id, output } : { fileId: id }
  }
  if (output && JOB_NAME_PATTERN.test(name)) return { jobName: name, output }
  if (isS3Url(text)) return { url: text }
  const parsed = URL.parse(text)
  // URLs of other servers are accepted here; `parseImportUrl` later rejects URLs that the rules do
  // not allow.
  const url = parsed && /^https?:$/.test(parsed.protocol) ? parsed : null
  if (url && !isUrlOfDeployment(url, origin)) return { url: text }
  return (
    (url && readServiceUrl(url)) ?? { error: describeAddressFault(text, { use: "input", origin }) }
  )
}

/**
 * Parses a URL of this service. Returns null unless the path is that of a file, of fetched media or
 * of a transcript.
 */
function readServiceUrl(url: URL): ParsedInputReference | null {
  const [version, room, id = "", name] = url.pathname.split("/").slice(1)
  if (version !== "v1") return null
  const jobId = isId(id) ? id.toLowerCase() : "<id>"
  if (room === "fetch") {
    const error = `expected a reference to the fetched media, not their URL: write ${formatOutputReference(jobId, "file")}`
    return { error, code: "fetch_not_an_input" }
  }
  if (room === "transcribe") {
    const format = /\.(srt|vtt|json|txt)$/.exec(name ?? "")?.[1] ?? "srt"
    const error = `expected a reference to the transcript, not its URL: write ${formatOutputReference(jobId, format)}`
    return { error, code: "transcript_not_an_input" }
  }
  return room === "files" && name && isId(id) ? { fileId: id.toLowerCase() } : null
}

/** Returns the faults of the file that an input names; `title` is the noun for the kind of job. */
export function findInputFileFaults(
  title: string,
  { field, file, source, isUnknown = false }: ResolvedInput,
): Fault[] {
  if (source || isUnknown) return []
  if (!file) return [{ field, code: "no_such_file", message: "the account has no such file" }]
  if (file.objectKey === null && isFinalState(file.state)) {
    return [{ field, code: "input_failed", message: describeFailedFile(file) }]
  }
  if (!isBundle(file)) return []
  const message = `"${file.name}" is a series of files, and a ${title} takes single files: download the needed file and upload it with POST /files`
  return [{ field, code: "series_as_input", message }]
}

/** Reports whether a file is, or will be, a bundle, such as a playlist with its segments. */
function isBundle({ bundle, objectKey, source, name }: File): boolean {
  const isPlanned = objectKey === null && source === "output"
  return bundle !== null || (isPlanned && findBundleKind({ name }) !== null)
}

/** Describes a file that does not exist because its import or its job failed, with the remedy. */
export function describeFailedFile({ source, name, jobId, errorCode, errorMessage }: File): string {
  const why = `${errorCode ?? "internal"}: ${errorMessage ?? "the job that writes it failed"}`
  return isCallerFileSource(source)
    ? `"${name}" could not be imported (${why}); import it again`
    : `job ${jobId}, which was to write it, has no such file (${why}); retry that job`
}
