import type { Fault } from "../faults.ts"
import { newId } from "../ids.ts"
import type { CreateRequest, JsonKind } from "../kinds/kind.ts"
import { acceptCreate, draftRequest, judgeBody, readRequest } from "./creates.ts"
import type { Created, GivenBody } from "./creates.ts"
import { readInputs } from "./create-inputs.ts"
import { explainFile, fileTwice, noFile, withFileForm } from "./file-forms.ts"
import type { FileForm } from "./file-forms.ts"
import { fieldReader } from "./form-fields.ts"
import { noteForm } from "./job-form.ts"
import { unprocessables } from "./problem.ts"
import { anyObject, isJson, readJson } from "./request.ts"
import type { AppContext } from "./request.ts"

/** Makes what accepts the creates of a kind: JSON bodies, and forms where it takes a file. */
export function createsOf<Input extends CreateRequest, Usable>(
  kind: JsonKind<Input, Usable>,
): (c: AppContext) => Promise<Created> {
  const { uploadField } = kind
  async function createFromJson(c: AppContext): Promise<Created> {
    // What cannot be read is in no form that only some bodies have.
    noteForm(c, kind, {})
    const body = await readJson(c, anyObject)
    noteForm(c, kind, body)
    function tell(faults: Fault[]): Fault[] {
      return uploadField === undefined
        ? faults
        : explainFile(c, faults, { body, field: uploadField })
    }
    return await create(c, kind, { body, tell })
  }
  if (uploadField === undefined) return createFromJson
  const readFields = fieldReader(kind.request)
  return async (c) => {
    if (isJson(c)) return await createFromJson(c)
    return await withFileForm(c, async ({ fields, storeFile }) => {
      const body = readFields(fields)
      noteForm(c, kind, body)
      return storeFile
        ? await createWithFile(c, { ...kind, uploadField }, { body, storeFile })
        : await create(c, kind, { body, tell: tellNoFile(c, body, uploadField) })
    })
  }
}

async function create<Input extends CreateRequest, Usable>(
  c: AppContext,
  kind: JsonKind<Input, Usable>,
  given: GivenBody,
  identify: (request: Input) => unknown = (request) => request,
): Promise<Created> {
  const request = await readRequest(c, kind, given)
  const read = readInputs(c, kind, { ...given, body: request })
  const asked = { identity: identify(request), fileIds: read.fileIds }
  return await acceptCreate(c, asked, (files) => {
    return draftRequest(c, kind, request, { ...given, read, files })
  })
}

/** Makes the job of a form with a file, whose stored bytes it then takes as a File of its own. */
async function createWithFile<Input extends CreateRequest, Usable>(
  c: AppContext,
  kind: JsonKind<Input, Usable> & { uploadField: string },
  { body, storeFile }: { body: object; storeFile: NonNullable<FileForm["storeFile"]> },
): Promise<Created> {
  const { uploadField } = kind
  const stored = await storeFile()
  const fileId = newId()
  const given = {
    body: { ...body, [uploadField]: `svc_id://${fileId}` },
    upload: { fileId, stored },
    tell: (faults: Fault[]) =>
      faults.map((fault) => (fault.field === uploadField ? { ...fault, field: "file" } : fault)),
  }
  if (uploadField in body) {
    const { faults } = await judgeBody(c, kind, given)
    throw unprocessables([fileTwice(uploadField), ...given.tell(faults)])
  }
  return await create(c, kind, given, (request) => {
    return [stored.name, stored.sha256, { ...request, [uploadField]: undefined }]
  })
}

/** Says of a form without a file that it may have one in the place of the field that is missing. */
function tellNoFile(
  c: AppContext,
  body: object,
  uploadField: string,
): (faults: Fault[]) => Fault[] {
  return (faults) =>
    faults.map((fault) => {
      return fault.field === uploadField && !(uploadField in body) ? noFile(c, uploadField) : fault
    })
}
