import type { TaskWork } from "../contract/task.ts"
import { jobPrefix, deliveryPrefix, prefixOf } from "./objects.ts"
import type { JobDraft } from "./job-drafts.ts"
import { allWritten, WHOLE_TEXT_LENGTH_MAX, writeText, writeValue } from "./large-values.ts"
import type { ValueWriter } from "./large-values.ts"
import type { NewDelivery } from "./deliveries.ts"
import type { File } from "./schema/files.ts"
import type { JobResult } from "./schema/jobs.ts"
import type { Task } from "./schema/tasks.ts"
import type { JobSnapshot, Transition } from "./transitions.ts"

type Heard = NonNullable<JobResult["transcribed"]>

// What rows keep of values of which the whole goes to R2: enough for lists, and for whatever is
// asked of a row again and again.

/** A draft whose rows fit, and the uploads that its batch forgets. */
export async function fitDraft(writer: ValueWriter, draft: JobDraft): Promise<JobDraft> {
  const { job } = draft
  const prefix = jobPrefix(writer.database.accountId, job.id)
  const [requestObjectKey = null, ...workObjectKeys] = await allWritten([
    writeValue(writer, prefix, job.request),
    ...draft.tasks.map(({ task }) => writeValue(writer, prefix, task.work)),
  ])
  if (writer.uploads.length === 0) return draft
  const request = requestObjectKey === null ? job.request : headOfRequest(job.request)
  return {
    ...draft,
    job: { ...job, request, requestObjectKey },
    tasks: draft.tasks.map((made, index) => {
      const workObjectKey = workObjectKeys[index] ?? null
      const work = workObjectKey === null ? made.task.work : headOfWork(made.task.work)
      return { ...made, task: { ...made.task, work, workObjectKey } }
    }),
    valueUploads: writer.uploads,
  }
}

/** A transition whose rows fit, and the uploads that its batch forgets. */
export async function fitTransition(
  writer: ValueWriter,
  snapshot: JobSnapshot,
  transition: Transition,
): Promise<Transition> {
  const { accountId } = writer.database
  const prefix = jobPrefix(accountId, snapshot.job.id)
  const [job, tasks, files, delivery] = await Promise.all([
    fitResult(writer, prefix, transition.job),
    Promise.all(
      transition.tasks.map(async ({ id, set }) => ({
        id,
        set: await fitTaskResult(writer, prefix, set),
      })),
    ),
    Promise.all(
      transition.files.map(async ({ id, set }) => {
        const stored = set.objectKey ?? snapshot.files.find((file) => file.id === id)?.objectKey
        return { id, set: stored ? await fitFile(writer, prefixOf(stored), set) : set }
      }),
    ),
    transition.delivery && fitDelivery(writer, transition.delivery),
  ])
  const fitted = { ...transition, job, tasks, files, valueUploads: writer.uploads }
  return delivery ? { ...fitted, delivery } : fitted
}

async function fitResult(
  writer: ValueWriter,
  prefix: string,
  set: Transition["job"],
): Promise<Transition["job"]> {
  const { result } = set
  if (!result) return set
  const hasMembers = result.outputs.some(({ files }) => files !== undefined)
  // Members of bundles are shown by single records alone, and may be many.
  const lengthMax = hasMembers ? 0 : result.metadata && WHOLE_TEXT_LENGTH_MAX
  const resultObjectKey = await writeValue(writer, prefix, result, lengthMax)
  if (resultObjectKey === null) return set
  return { ...set, result: headOfResult(result), resultObjectKey }
}

async function fitTaskResult(
  writer: ValueWriter,
  prefix: string,
  set: Partial<Task>,
): Promise<Partial<Task>> {
  const { result } = set
  if (!result) return set
  const resultObjectKey = await writeValue(writer, prefix, result)
  return resultObjectKey === null ? set : { ...set, result: { kind: result.kind }, resultObjectKey }
}

async function fitFile(
  writer: ValueWriter,
  prefix: string,
  set: Partial<File>,
): Promise<Partial<File>> {
  const { probe, bundle } = set
  const [probeObjectKey, bundleObjectKey] = await Promise.all([
    probe ? writeValue(writer, prefix, probe) : null,
    bundle ? writeValue(writer, prefix, bundle, 0) : null,
  ])
  const { members: _, ...head } = bundle ?? {}
  return {
    ...set,
    ...(probe &&
      probeObjectKey !== null && {
        probe: { ...probe, streams: [], format: {} },
        probeObjectKey,
      }),
    ...(bundle &&
      bundleObjectKey !== null && {
        bundle: { ...head, kind: bundle.kind },
        bundleObjectKey,
      }),
  }
}

async function fitDelivery(writer: ValueWriter, delivery: NewDelivery): Promise<NewDelivery> {
  const prefix = deliveryPrefix(writer.database.accountId, delivery.id)
  const bodyObjectKey = await writeText(writer, prefix, delivery.body)
  return bodyObjectKey === null ? delivery : { ...delivery, body: "", bodyObjectKey }
}

/** A job's result without members of bundles, without what a lookup found and what was said. */
function headOfResult(result: JobResult): JobResult {
  const { outputs, metadata: _metadata, transcribed, ...others } = result
  return {
    ...others,
    ...(transcribed && { transcribed: withoutText(transcribed) }),
    outputs: outputs.map((output) => {
      const { files: _, ...others } = output
      return others
    }),
  }
}

/** What a transcription heard without its text. */
function withoutText({ language, duration_seconds }: Heard): Heard {
  return { language, duration_seconds }
}

/** The outputs are read with each byte that a runner stores. */
function headOfWork({ kind, outputs }: TaskWork): TaskWork {
  return { kind, ...(outputs && { outputs }) }
}

/** Names of as many outputs as a request may have fit in it. */
const HEAD_FIELD_LENGTH_MAX = 20 * 1024

/** The fields of a request that are short enough for lists. */
function headOfRequest(request: unknown): unknown {
  const fields = request instanceof Object ? Object.entries(request) : []
  return Object.fromEntries(
    fields.filter(([, value]) => JSON.stringify(value).length <= HEAD_FIELD_LENGTH_MAX),
  )
}
