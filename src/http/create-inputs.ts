import type { Fault } from "../faults.ts"
import { newId } from "../ids.ts"
import type { ImportUrl } from "../kinds/import-url.ts"
import type { FoundInput, InputReference, JsonKind } from "../kinds/kind.ts"
import { readReference } from "../kinds/reference.ts"
import type { Reference } from "../kinds/reference.ts"
import type { StoredUpload } from "../kinds/uploads.ts"
import type { File } from "../storage/schema/files.ts"
import { publicOrigin } from "./request.ts"
import type { AppContext } from "./request.ts"
import { notAllowed, readImport } from "./user-urls.ts"

/** A file whose bytes came with a create, and the id of the File that it is to be. */
export type UploadedInput = { fileId: string; stored: StoredUpload }

/** What can be used of a body, the inputs that it names, and which files these are. */
export type ReadBody<Usable> = {
  usable: Usable
  references: (InputReference & Reference)[]
  /** Files that D1 has to be asked for; the one that came with the request is none. */
  fileIds: string[]
}

/** Reads which inputs a body names. */
export function readInputs<Usable>(
  c: AppContext,
  {
    readUsable,
    references: referencesOf,
  }: Pick<JsonKind<never, Usable>, "readUsable" | "references">,
  { body, upload }: { body: object; upload?: UploadedInput | undefined },
): ReadBody<Usable> {
  const origin = publicOrigin(c)
  const usable = readUsable(body)
  const references = referencesOf(usable).map((each) => {
    return { ...each, ...readReference(each.reference, origin) }
  })
  const ids = references.flatMap((each) => ("fileId" in each ? [each.fileId] : []))
  return { usable, references, fileIds: ids.filter((id) => id !== upload?.fileId) }
}

/**
 * The account's files among these that references name, the one that came with the request, and those
 * that are to be brought in from URLs, each URL once; and what is wrong with those that cannot be read.
 */
export function findInputs(
  c: AppContext,
  references: ReadBody<unknown>["references"],
  { found, upload }: { found: readonly File[]; upload?: UploadedInput | undefined },
): { inputs: FoundInput[]; faults: Fault[] } {
  const files = new Map(found.map((file) => [file.id, file]))
  const sources = new Map<string, { fileId: string; source: ImportUrl }>()
  const inputs: FoundInput[] = []
  const faults: Fault[] = []
  for (const each of references) {
    const { key, field } = each
    if ("fileId" in each && each.fileId === upload?.fileId) {
      inputs.push({ key, field, fileId: upload.fileId, file: null, source: upload.stored })
    } else if ("fileId" in each) {
      inputs.push({ key, field, fileId: each.fileId, file: files.get(each.fileId) ?? null })
    } else if ("url" in each) {
      const source = readImport(c, each.url)
      if ("error" in source) {
        faults.push(notAllowed(field, source.error))
        continue
      }
      const known = sources.get(source.url) ?? { fileId: newId(), source }
      sources.set(source.url, known)
      inputs.push({ key, field, file: null, ...known })
    } else {
      faults.push({ field, code: each.code ?? "invalid_reference", message: each.error })
    }
  }
  return { inputs, faults }
}
