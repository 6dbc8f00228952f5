import type { Fault } from "../../domain/faults.ts"
import type { JobDraft } from "../../domain/job-draft.ts"
import { draftImportJob } from "../../kinds/file/plan.ts"
import type { FileFormFields } from "../../kinds/file/request.ts"
import { inputUrlFieldPath } from "../../kinds/private-input.ts"
import type { InputValue } from "../../kinds/private-input.ts"
import type { AppContext } from "../context.ts"
import { readJobProperties } from "./accept.ts"
import { parseImportSource, urlNotAllowedFault } from "./user-urls.ts"

/** Fields of a request that creates a File from a URL. */
export type ImportFields = Omit<FileFormFields, "file_url"> & { file_url: InputValue }

/** Returns the job that imports a URL, or the faults of the URL. */
export function draftImportOrFaults(
  c: AppContext,
  fields: ImportFields,
): { draft: JobDraft } | { faults: Fault[] } {
  const { file_url } = fields
  const source = parseImportSource(c, file_url)
  if ("error" in source) {
    return { faults: [urlNotAllowedFault(inputUrlFieldPath("file_url", file_url), source.error)] }
  }
  const facts = { ...readJobProperties(c, fields), ...c.get("limits") }
  return { draft: draftImportJob(source, facts) }
}
