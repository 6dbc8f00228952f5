import { acceptCreate, creatingOf, readJobFacts } from "../../http/creates.ts"
import type { Created } from "../../http/creates.ts"
import { explainFile, explainName, fileTwice, noFile, withFileForm } from "../../http/file-forms.ts"
import { unprocessables } from "../../http/problem.ts"
import { anyObject, checkBody, isJson, readJson } from "../../http/request.ts"
import type { AppContext } from "../../http/request.ts"
import { notAllowed, readImport } from "../../http/user-urls.ts"
import { planImport, planUpload } from "../../kinds/file/plan.ts"
import { fileFields, fileImport } from "../../kinds/file/request.ts"
import type { FileFields } from "../../kinds/file/request.ts"
import type { FileWithJob } from "../../storage/files.ts"
import { draftedFile } from "../../storage/job-drafts.ts"
import type { JobDraft } from "../../storage/job-drafts.ts"

/** The file that a create made, as it was then; null where an earlier request made it. */
type CreatedFile = Created & { made: FileWithJob | null }

/** Makes the file of POST /files, of the bytes that it brings or of a URL; it has its job's id. */
export async function createFile(c: AppContext): Promise<CreatedFile> {
  return isJson(c) ? await createFromJson(c) : await createFromForm(c)
}

async function createFromJson(c: AppContext): Promise<CreatedFile> {
  const body = await readJson(c, anyObject)
  const checked = checkBody(fileImport, body)
  if ("data" in checked) return await createImport(c, checked.data)
  throw unprocessables(explainFile(c, checked.faults, { body, field: "file_url" }))
}

async function createFromForm(c: AppContext): Promise<CreatedFile> {
  return await withFileForm(c, async ({ fields: texts, storeFile }) => {
    const checked = checkBody(fileFields, texts)
    if ("faults" in checked) throw unprocessables(explainName(checked.faults))
    const fields = checked.data
    const { file_url } = fields
    if (storeFile && file_url !== undefined) throw unprocessables([fileTwice("file_url")])
    if (file_url !== undefined) return await createImport(c, { ...fields, file_url })
    if (!storeFile) throw unprocessables([noFile(c, "file_url")])
    const stored = await storeFile()
    const draft = planUpload(stored, readJobFacts(c, fields))
    const identity = [stored.name, stored.sha256, fields]
    return await accept(c, identity, () => draft)
  })
}

/** Makes a file that is brought in from a URL; the same request is the same in either form. */
async function createImport(
  c: AppContext,
  fields: FileFields & { file_url: string },
): Promise<CreatedFile> {
  const { file_url, webhook = null, metadata = null, priority, expires_in } = fields
  const identity = { file_url, webhook, metadata, priority, expires_in: expires_in ?? undefined }
  return await accept(c, identity, () => {
    const source = readImport(c, file_url)
    if ("error" in source) throw unprocessables([notAllowed("file_url", source.error)])
    return planImport(source, { ...readJobFacts(c, fields), ...c.get("limits") })
  })
}

async function accept(
  c: AppContext,
  identity: unknown,
  plan: () => JobDraft,
): Promise<CreatedFile> {
  let made: FileWithJob | null = null
  const created = await acceptCreate(c, { identity }, async () => {
    const draft = plan()
    made = draftedFile(c.get("account").id, draft, creatingOf(c))
    return draft
  })
  return { ...created, made: created.replayed ? null : made }
}
