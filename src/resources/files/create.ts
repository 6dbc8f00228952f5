import { acceptCreate, readJobFacts } from "../../http/creates.ts"
import type { Created } from "../../http/creates.ts"
import { explainFile, fileTwice, noFile, withFileForm } from "../../http/file-forms.ts"
import { unprocessables } from "../../http/problem.ts"
import { anyObject, checkBody, isJson, parseBody, readJson } from "../../http/request.ts"
import type { AppContext } from "../../http/request.ts"
import { notAllowed, readImport } from "../../http/user-urls.ts"
import { planImport, planUpload } from "../../kinds/file/plan.ts"
import { fileFields, fileImport } from "../../kinds/file/request.ts"
import type { FileFields } from "../../kinds/file/request.ts"

/** Makes the file of POST /files, of the bytes that it brings or of a URL; it has its job's id. */
export async function createFile(c: AppContext): Promise<Created> {
  return isJson(c) ? await createFromJson(c) : await createFromForm(c)
}

async function createFromJson(c: AppContext): Promise<Created> {
  const body = await readJson(c, anyObject)
  const checked = checkBody(fileImport, body)
  if ("data" in checked) return await createImport(c, checked.data)
  throw unprocessables(explainFile(c, checked.faults, { body, field: "file_url" }))
}

async function createFromForm(c: AppContext): Promise<Created> {
  return await withFileForm(c, async ({ fields: texts, storeFile }) => {
    const fields = parseBody(fileFields, texts)
    const { file_url } = fields
    if (storeFile && file_url !== undefined) throw unprocessables([fileTwice("file_url")])
    if (file_url !== undefined) return await createImport(c, { ...fields, file_url })
    if (!storeFile) throw unprocessables([noFile("file_url")])
    const stored = await storeFile()
    const draft = planUpload(stored, readJobFacts(c, fields))
    const identity = [stored.name, stored.sha256, fields]
    return await acceptCreate(c, { identity }, async () => draft)
  })
}

/** Makes a file that is brought in from a URL; the same request is the same in either form. */
async function createImport(
  c: AppContext,
  fields: FileFields & { file_url: string },
): Promise<Created> {
  const { file_url, webhook = null, metadata = null, priority, expires_in } = fields
  const identity = { file_url, webhook, metadata, priority, expires_in: expires_in ?? undefined }
  return await acceptCreate(c, { identity }, async () => {
    const source = readImport(c, file_url)
    if ("error" in source) throw unprocessables([notAllowed("file_url", source.error)])
    return planImport(source, { ...readJobFacts(c, fields), ...c.get("limits") })
  })
}
