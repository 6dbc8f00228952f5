import { acceptCreateRequest, readJobCreator, readJobProperties } from "../input/accept.ts"
import type { CreatedJob } from "../input/accept.ts"
import {
  addUploadInstructions,
  explainFileNameFaults,
  duplicateFileFault,
  missingFileFault,
  receiveFileForm,
} from "../input/file-forms.ts"
import { invalidFieldsProblem } from "../output/problem.ts"
import { anyObjectSchema, safeParseBody, isJsonRequest, readJsonBody } from "../input/request.ts"
import type { AppContext } from "../context.ts"
import { draftImportOrFaults } from "../input/draft-import.ts"
import type { ImportFields } from "../input/draft-import.ts"
import { draftUploadJob } from "../../kinds/file/plan.ts"
import { fileFormFieldsSchema, fileImportRequestSchema } from "../../kinds/file/request.ts"
import type { FileWithJob } from "../../domain/snapshot.ts"
import { toImportedFile } from "../../db/jobs/create-job.ts"
import type { JobDraft } from "../../domain/job-draft.ts"

/** Result of the creation of a file; `newFile` is null if an earlier request created the file. */
type CreatedFile = CreatedJob & { newFile: FileWithJob | null }

/** Creates the file of POST /files by upload or from a URL. The file and its job share one id. */
export async function createFile(c: AppContext): Promise<CreatedFile> {
  return isJsonRequest(c) ? await createFromJson(c) : await createFromForm(c)
}

async function createFromJson(c: AppContext): Promise<CreatedFile> {
  const body = await readJsonBody(c, anyObjectSchema)
  const checked = safeParseBody(fileImportRequestSchema, body)
  if ("data" in checked) return await createImport(c, checked.data)
  throw invalidFieldsProblem(addUploadInstructions(c, checked.faults, { body, field: "file_url" }))
}

async function createFromForm(c: AppContext): Promise<CreatedFile> {
  return await receiveFileForm(c, async ({ fields: texts, storeFile }) => {
    const checked = safeParseBody(fileFormFieldsSchema, texts)
    if ("faults" in checked) throw invalidFieldsProblem(explainFileNameFaults(checked.faults))
    const fields = checked.data
    const { file_url } = fields
    if (storeFile && file_url !== undefined)
      throw invalidFieldsProblem([duplicateFileFault("file_url")])
    if (file_url !== undefined) return await createImport(c, { ...fields, file_url })
    if (!storeFile) throw invalidFieldsProblem([missingFileFault(c, "file_url")])
    const upload = await storeFile()
    const draft = draftUploadJob(upload, readJobProperties(c, fields))
    const identity = [upload.name, upload.sha256, fields]
    return await accept(c, identity, () => draft)
  })
}

/**
 * Creates a file by importing a URL. A form and a JSON body with the same fields count as the same
 * request for an `Idempotency-Key`.
 */
async function createImport(c: AppContext, fields: ImportFields): Promise<CreatedFile> {
  const { file_url, webhook = null, metadata = null, priority, expires_in, publish } = fields
  const kept = { expires_in: expires_in ?? undefined, publish }
  const identity = { file_url, webhook, metadata, priority, ...kept }
  return await accept(c, identity, () => {
    const drafted = draftImportOrFaults(c, fields)
    if ("faults" in drafted) throw invalidFieldsProblem(drafted.faults)
    return drafted.draft
  })
}

async function accept(
  c: AppContext,
  identity: unknown,
  plan: () => JobDraft,
): Promise<CreatedFile> {
  let newFile: FileWithJob | null = null
  const created = await acceptCreateRequest(c, { identity }, async () => {
    const draft = plan()
    newFile = toImportedFile(c.get("account").id, draft, readJobCreator(c))
    return draft
  })
  return { ...created, newFile: created.replayed ? null : newFile }
}
