import { z } from "zod"
import { acceptCreate, readJobFacts } from "../../http/creates.ts"
import { receiveMultipart } from "../../http/multipart.ts"
import { storageFull, unprocessable, unprocessables } from "../../http/problem.ts"
import { checkBody, parseBody, readIdempotencyKey, readJson } from "../../http/request.ts"
import type { AppContext } from "../../http/request.ts"
import { withUploadPlace } from "../../http/upload-places.ts"
import { readImport } from "../../http/user-urls.ts"
import { planImport, planUpload } from "../../kinds/file/plan.ts"
import type { StoredUpload } from "../../kinds/file/plan.ts"
import { fileFields, fileImport } from "../../kinds/file/request.ts"
import type { FileFields } from "../../kinds/file/request.ts"
import { openIncomingFile } from "../../pipeline/uploads/incoming-file.ts"
import type { IncomingFile } from "../../pipeline/uploads/incoming-file.ts"

/** Makes the file of POST /files, of the bytes that it brings or of a URL; answers its id. */
export async function createFile(c: AppContext): Promise<string> {
  const type = c.req.header("content-type") ?? ""
  if (/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    const fields = readFields(
      await readJson(c, z.record(z.string(), z.unknown(), "expected an object of fields")),
    )
    return await createImport(c, fields)
  }
  return await withUploadPlace(c, () => createFromForm(c))
}

/** The fields of a JSON body; a file in it is refused with what to do. */
function readFields(body: object): z.output<typeof fileImport> {
  const checked = checkBody(fileImport, body)
  if ("data" in checked) return checked.data
  const isForm = "file" in body
  throw unprocessables(
    checked.faults
      .filter(({ field }) => !(isForm && field === "file_url" && !("file_url" in body)))
      .map((fault) => (fault.field === "file" ? { ...fault, message: FILE_IN_JSON } : fault)),
  )
}

const FILE_IN_JSON = "the bytes of a file come as multipart/form-data; a JSON body has a file_url"

async function createFromForm(c: AppContext): Promise<string> {
  let incoming: IncomingFile | null = null
  try {
    const isHashed = readIdempotencyKey(c) !== null
    const form = await receiveMultipart(c, (part) => {
      incoming = openIncomingFile(c.env, c.get("account").id, { ...part, isHashed })
      return incoming
    })
    const fields = parseBody(fileFields, Object.fromEntries(form.fields))
    const { file_url } = fields
    if (form.file && file_url !== undefined) {
      throw unprocessable("file_url", "give file or file_url, not both")
    }
    if (file_url !== undefined) return await createImport(c, { ...fields, file_url })
    if (!form.file) throw unprocessable("file", "give file or file_url")
    const stored = await finish(incoming)
    if (!stored) throw storageFull()
    if (stored.sizeBytes === 0) throw unprocessable("file", "it is empty")
    const { name, contentType } = form.file
    const made: StoredUpload = { ...stored, name, contentType }
    const draft = planUpload(made, readJobFacts(c, fields))
    const { jobId, replayed } = await acceptCreate(
      c,
      [name, stored.digest, fields],
      async () => draft,
    )
    if (replayed) await abandon(incoming)
    return jobId
  } catch (error) {
    await abandon(incoming)
    throw error
  }
}

/** Makes a file that is brought in from a URL; the same request is the same in either form. */
async function createImport(
  c: AppContext,
  fields: FileFields & { file_url: string },
): Promise<string> {
  const { file_url, webhook = null, metadata = null, priority } = fields
  const identity = { file_url, webhook, metadata, priority }
  const { jobId } = await acceptCreate(c, identity, async () => {
    const source = readImport(c, file_url)
    if ("error" in source) {
      const fault = { field: "file_url", code: "url_not_allowed", message: source.error }
      throw unprocessables([fault])
    }
    return planImport(source, { ...readJobFacts(c, fields), ...c.get("limits") })
  })
  return jobId
}

async function finish(incoming: IncomingFile | null) {
  return (await incoming?.finish()) ?? null
}

async function abandon(incoming: IncomingFile | null): Promise<void> {
  await incoming?.abandon()
}
