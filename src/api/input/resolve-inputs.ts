import { cutText } from "../../contract/cut-text.ts"
import type { Fault } from "../../domain/faults.ts"
import { newId } from "../../platform/ids.ts"
import type { ImportUrl } from "../../kinds/import-url.ts"
import type { ResolvedInput, InputReference, JsonKind } from "../../kinds/kind.ts"
import { inputUrlFieldPath } from "../../kinds/private-input.ts"
import { parseInputReference } from "../../kinds/reference.ts"
import type { ParsedInputReference } from "../../kinds/reference.ts"
import { findReferencedOutput } from "../../kinds/output-references.ts"
import type { JobWithOutputs } from "../../kinds/output-references.ts"
import { INTERNAL_KIND_NAMES } from "../../kinds/registry.ts"
import type { StoredUpload } from "../../kinds/uploads.ts"
import { EXPECTED_ADDRESS_CLAUSES } from "../../hints/addresses.ts"
import type { InputIds, InputRows } from "../../db/files/input-files.ts"
import { getPublicOrigin } from "./request.ts"
import type { AppContext } from "../context.ts"
import { urlNotAllowedFault, parseImportSource } from "./user-urls.ts"

/** Uploaded file of a create request, and the id of the File that the upload becomes. */
export type UploadedInput = { fileId: string; stored: StoredUpload }

/** Valid fields of a request body, and the body's references to input files by id or URL. */
export type BodyWithReferences<Usable> = {
  usable: Usable
  references: (InputReference & ParsedInputReference)[]
  /**
   * Ids of the files and jobs to read from D1. The file that the request itself uploads has no row
   * yet, and is not included.
   */
  ids: InputIds
}

/** Reads the references to input files from a request body. */
export function readInputReferences<Usable>(
  c: AppContext,
  {
    readUsableFields,
    references: referencesOf,
  }: Pick<JsonKind<never, Usable>, "readUsableFields" | "references">,
  { body, upload }: { body: object; upload?: UploadedInput | undefined },
): BodyWithReferences<Usable> {
  const origin = getPublicOrigin(c)
  const usable = readUsableFields(body)
  const references = referencesOf(usable).map((each) => {
    return { ...each, ...parseInputReference(each.reference, origin) }
  })
  const fileIds = references.flatMap((each) => ("fileId" in each ? [each.fileId] : []))
  const jobIds = references.flatMap((each) => ("jobId" in each ? [each.jobId] : []))
  const ids = {
    fileIds: fileIds.filter((id) => id !== upload?.fileId),
    jobIds: [...new Set(jobIds)],
  }
  return { usable, references, ids }
}

/** Files and jobs to which the references of a request may refer. */
export type ResolvableInputs = {
  rows: InputRows
  /** File that the request itself uploads. */
  upload?: UploadedInput | undefined
  /**
   * Jobs that the same batch creates, by name; null for a job that is not drafted yet, so that its
   * outputs are unknown.
   */
  batchJobs?: ReadonlyMap<string, JobWithOutputs | null> | undefined
}

/**
 * Maximum length in characters of an output's name that an error quotes because no output has this
 * name.
 */
const SHOWN_NAME_LENGTH_MAX = 100

type Reference = BodyWithReferences<unknown>["references"][number]

/**
 * Resolves references to inputs: files of the account, outputs of other jobs, the uploaded file of
 * the request, or imports of URLs. Equal URLs with equal headers share one import. Invalid
 * references become faults.
 */
export function resolveInputs(
  c: AppContext,
  references: BodyWithReferences<unknown>["references"],
  found: ResolvableInputs,
): { inputs: ResolvedInput[]; faults: Fault[] } {
  const imports = new Map<string, { fileId: string; source: ImportUrl }>()
  const inputs: ResolvedInput[] = []
  const faults: Fault[] = []
  for (const each of references) {
    const resolved = "url" in each ? resolveUrl(c, each, imports) : resolveById(each, found)
    if ("message" in resolved) faults.push(resolved)
    else inputs.push(resolved)
  }
  return { inputs, faults }
}

function resolveUrl(
  c: AppContext,
  { key, field, reference }: Reference,
  imports: Map<string, { fileId: string; source: ImportUrl }>,
): ResolvedInput | Fault {
  const source = parseImportSource(c, reference)
  if ("error" in source)
    return urlNotAllowedFault(inputUrlFieldPath(field, reference), source.error)
  const identity = JSON.stringify([source.url, source.headers])
  const shared = imports.get(identity) ?? { fileId: newId(), source }
  imports.set(identity, shared)
  return { key, field, file: null, ...shared }
}

function resolveById(each: Reference, found: ResolvableInputs): ResolvedInput | Fault {
  const { key, field, reference } = each
  const { rows, upload } = found
  if ("fileId" in each) {
    const { fileId } = each
    if (fileId === upload?.fileId) return { key, field, fileId, file: null, source: upload.stored }
    return { key, field, fileId, file: rows.files.find(({ id }) => id === fileId) ?? null }
  }
  if ("jobId" in each || "jobName" in each) {
    const resolved = resolveOutput(each, found)
    return "message" in resolved ? { field, ...resolved } : { key, field, ...resolved }
  }
  const code = "code" in each && each.code !== undefined ? each.code : "invalid_reference"
  const message = "error" in each ? each.error : EXPECTED_ADDRESS_CLAUSES.input
  return { field: inputUrlFieldPath(field, reference), code, message }
}

const NO_SUCH_JOB =
  "the account has no job with this id; for a File, write `svc_id://<id>` without a name behind it"

/**
 * Returns the file of the job output that a reference names, or a fault. The caller adds the name
 * of the request field to the fault.
 */
function resolveOutput(
  named: { jobId: string; output: string } | { jobName: string; output: string },
  { rows, batchJobs }: ResolvableInputs,
): Pick<ResolvedInput, "fileId" | "file" | "isUnknown"> | Omit<Fault, "field"> {
  const { output } = named
  const job = "jobId" in named ? findNeededJob(rows, named.jobId) : batchJobs?.get(named.jobName)
  if (job === null) return { fileId: newId(), file: null, isUnknown: true }
  if (job === undefined) {
    return "jobId" in named
      ? { code: "no_such_job", message: NO_SUCH_JOB }
      : { code: "no_such_job", message: describeUnknownName(named.jobName, batchJobs) }
  }
  const referenced = findReferencedOutput(job, output)
  if ("fileId" in referenced) return referenced
  const { names } = referenced
  const has = names.length === 0 ? "it has none" : `it has ${names.join(", ")}`
  return {
    code: "no_such_output",
    message: `the job has no output "${cutText(output, SHOWN_NAME_LENGTH_MAX)}"; ${has}`,
  }
}

function findNeededJob({ jobs, files }: InputRows, jobId: string): JobWithOutputs | undefined {
  const job = jobs.find(({ id, kind }) => id === jobId && !INTERNAL_KIND_NAMES.includes(kind))
  return job && { ...job, files: files.filter((file) => file.jobId === jobId) }
}

function describeUnknownName(name: string, batchJobs: ResolvableInputs["batchJobs"]): string {
  if (!batchJobs) return `expected the id of a job: the name "${name}" is known only within a batch`
  return `the batch has no job "${name}"; it has ${[...batchJobs.keys()].join(", ")}`
}
