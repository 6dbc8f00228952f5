import type { Fault } from "../../domain/faults.ts"
import { newId } from "../../platform/ids.ts"
import type { CommonRequestFields, JsonKind } from "../../kinds/kind.ts"
import {
  acceptCreateRequest,
  draftRequestedJob,
  validateCreateRequest,
  parseCreateRequest,
} from "./accept.ts"
import type { CreatedJob, CreateRequestBody } from "./accept.ts"
import { readInputReferences } from "./resolve-inputs.ts"
import {
  addUploadInstructions,
  duplicateFileFault,
  missingFileFault,
  receiveFileForm,
} from "./file-forms.ts"
import type { FileForm } from "./file-forms.ts"
import { makeFormParser } from "./form-fields.ts"
import { recordJobFormUse } from "./job-form.ts"
import { invalidFieldsProblem } from "../output/problem.ts"
import { anyObjectSchema, isJsonRequest, readJsonBody } from "./request.ts"
import type { AppContext } from "../context.ts"

/**
 * Returns the handler of POST requests that create jobs of a kind. The handler accepts JSON bodies,
 * and multipart forms if the kind takes a file.
 */
export function makeJobCreationHandler<Input extends CommonRequestFields, Usable>(
  kind: JsonKind<Input, Usable>,
): (c: AppContext) => Promise<CreatedJob> {
  const { uploadField } = kind
  async function createFromJson(c: AppContext): Promise<CreatedJob> {
    // A body that cannot be parsed counts as a body without fields of the Job form.
    recordJobFormUse(c, kind, {})
    const body = await readJsonBody(c, anyObjectSchema)
    recordJobFormUse(c, kind, body)
    function explain(faults: Fault[]): Fault[] {
      return uploadField === undefined
        ? faults
        : addUploadInstructions(c, faults, { body, field: uploadField })
    }
    return await create(c, kind, { body, mapFaults: explain })
  }
  if (uploadField === undefined) return createFromJson
  const readFields = makeFormParser(kind.request)
  return async (c) => {
    if (isJsonRequest(c)) return await createFromJson(c)
    return await receiveFileForm(c, async ({ fields, storeFile }) => {
      const body = readFields(fields)
      recordJobFormUse(c, kind, body)
      return storeFile
        ? await createWithFile(c, { ...kind, uploadField }, { body, storeFile })
        : await create(c, kind, { body, mapFaults: explainMissingFile(c, body, uploadField) })
    })
  }
}

async function create<Input extends CommonRequestFields, Usable>(
  c: AppContext,
  kind: JsonKind<Input, Usable>,
  createBody: CreateRequestBody,
  identify: (request: Input) => unknown = (request) => request,
): Promise<CreatedJob> {
  const request = await parseCreateRequest(c, kind, createBody)
  const read = readInputReferences(c, kind, { ...createBody, body: request })
  const lookup = { identity: identify(request), ids: read.ids }
  return await acceptCreateRequest(c, lookup, (rows) => {
    return draftRequestedJob(c, kind, request, { ...createBody, read, rows })
  })
}

/** Creates a job from a form with a file. The uploaded file becomes an input File of the job. */
async function createWithFile<Input extends CommonRequestFields, Usable>(
  c: AppContext,
  kind: JsonKind<Input, Usable> & { uploadField: string },
  { body, storeFile }: { body: object; storeFile: NonNullable<FileForm["storeFile"]> },
): Promise<CreatedJob> {
  const { uploadField } = kind
  const upload = await storeFile()
  const fileId = newId()
  const createBody = {
    body: { ...body, [uploadField]: `svc_id://${fileId}` },
    upload: { fileId, stored: upload },
    mapFaults: (faults: Fault[]) =>
      faults.map((fault) => (fault.field === uploadField ? { ...fault, field: "file" } : fault)),
  }
  if (uploadField in body) {
    const { faults } = await validateCreateRequest(c, kind, createBody)
    throw invalidFieldsProblem([duplicateFileFault(uploadField), ...createBody.mapFaults(faults)])
  }
  return await create(c, kind, createBody, (request) => {
    return [upload.name, upload.sha256, { ...request, [uploadField]: undefined }]
  })
}

/**
 * Returns a function that changes the validation error for the missing field `uploadField`: the
 * message then also says that the file can be uploaded as the form field `file`.
 */
function explainMissingFile(
  c: AppContext,
  body: object,
  uploadField: string,
): (faults: Fault[]) => Fault[] {
  return (faults) =>
    faults.map((fault) => {
      return fault.field === uploadField && !(uploadField in body)
        ? missingFileFault(c, uploadField)
        : fault
    })
}
