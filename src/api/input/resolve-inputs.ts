import type { Fault } from "../../domain/faults.ts"
import { newId } from "../../platform/ids.ts"
import type { ImportUrl } from "../../kinds/import-url.ts"
import type { ResolvedInput, InputReference, JsonKind } from "../../kinds/kind.ts"
import { inputUrlField } from "../../kinds/private-input.ts"
import { readInputReference } from "../../kinds/reference.ts"
import type { ParsedReference } from "../../kinds/reference.ts"
import type { StoredUpload } from "../../kinds/uploads.ts"
import type { File } from "../../db/schema/files.ts"
import { getPublicOrigin } from "./request.ts"
import type { AppContext } from "../context.ts"
import { urlNotAllowedFault, readImportSource } from "./user-urls.ts"

/** A file that was uploaded with a create request, and the id of the File that it becomes. */
export type UploadedInput = { fileId: string; stored: StoredUpload }

/** The valid fields of a request body, and its references to input files by id or URL. */
export type BodyWithReferences<Usable> = {
  usable: Usable
  references: (InputReference & ParsedReference)[]
  /** Ids of the files to read from D1, without the file that the request itself uploads. */
  fileIds: string[]
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
    return { ...each, ...readInputReference(each.reference, origin) }
  })
  const ids = references.flatMap((each) => ("fileId" in each ? [each.fileId] : []))
  return { usable, references, fileIds: ids.filter((id) => id !== upload?.fileId) }
}

/**
 * Resolves references to inputs: files of the account, the uploaded file of the request, or imports
 * of URLs. Equal URLs with equal headers share one import. Invalid references become faults.
 */
export function resolveInputs(
  c: AppContext,
  references: BodyWithReferences<unknown>["references"],
  { found, upload }: { found: readonly File[]; upload?: UploadedInput | undefined },
): { inputs: ResolvedInput[]; faults: Fault[] } {
  const files = new Map(found.map((file) => [file.id, file]))
  const sources = new Map<string, { fileId: string; source: ImportUrl }>()
  const inputs: ResolvedInput[] = []
  const faults: Fault[] = []
  for (const each of references) {
    const { key, field, reference } = each
    if ("fileId" in each && each.fileId === upload?.fileId) {
      inputs.push({ key, field, fileId: upload.fileId, file: null, source: upload.stored })
    } else if ("fileId" in each) {
      inputs.push({ key, field, fileId: each.fileId, file: files.get(each.fileId) ?? null })
    } else if ("url" in each) {
      const source = readImportSource(c, reference)
      if ("error" in source) {
        faults.push(urlNotAllowedFault(inputUrlField(field, reference), source.error))
        continue
      }
      const identity = JSON.stringify([source.url, source.headers])
      const shared = sources.get(identity) ?? { fileId: newId(), source }
      sources.set(identity, shared)
      inputs.push({ key, field, file: null, ...shared })
    } else {
      const code = each.code ?? "invalid_reference"
      faults.push({ field: inputUrlField(field, reference), code, message: each.error })
    }
  }
  return { inputs, faults }
}
