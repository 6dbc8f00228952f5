import { foldTasks } from "./ended-tasks.ts"
import { exportedBytes, isSurelyShort, ROW_BYTES_MAX, rowBytes } from "./exported-bytes.ts"
import type { JobDraft, TaskDraft } from "./job-drafts.ts"
import { allWritten, writeText } from "./large-values.ts"
import type { ValueWriter } from "./large-values.ts"
import { deliveryPrefix, jobPrefix, prefixOf } from "./objects.ts"
import { packText } from "./packed-text.ts"
import type { NewDelivery } from "./deliveries.ts"
import { deliveries } from "./schema/deliveries.ts"
import { files } from "./schema/files.ts"
import { jobs } from "./schema/jobs.ts"
import type { Job, JobResult } from "./schema/jobs.ts"
import { tasks } from "./schema/tasks.ts"
import { headOfRequest, headOfResult, headOfWork } from "./value-heads.ts"
import type { JobSnapshot, Transition } from "./transitions.ts"

// The one place that knows which values of a row may be long. A value that has no room in its row is an
// object of R2, which the column beside it names, and the row keeps a head of it: enough for lists, and
// for whatever is asked of a row again and again.

/** A list shows no longer value whole. */
const LISTED_BYTES_MAX = 16 * 1024
/** Room that the row of a job keeps for its end: the failure, and what is odd. */
const END_BYTES = 6_000
const HEAD_BYTES = 1_500
/** Of the results of a task that are kept in its row, beside its work. */
const RESULT_BYTES_MAX = 8_000

/** A draft whose rows have room for their values, and the uploads that its batch forgets. */
export async function spillDraft(writer: ValueWriter, draft: JobDraft): Promise<JobDraft> {
  const prefix = jobPrefix(writer.database.accountId, draft.job.id)
  const { request } = draft.job
  const room = ROW_BYTES_MAX - END_BYTES - rowBytes(jobs, { ...draft.job, request: null })
  const [requestObjectKey = null, ...workObjectKeys] = await allWritten([
    spill(writer, prefix, request, { room, lengthMax: LISTED_BYTES_MAX }),
    ...draft.tasks.map(({ task }) => spillWork(writer, prefix, task)),
  ])
  if (writer.uploads.length === 0) return draft
  const inRow = requestObjectKey === null ? request : headOfRequest(request)
  return {
    ...draft,
    job: { ...draft.job, request: inRow, requestObjectKey },
    tasks: draft.tasks.map((made, index) => {
      const workObjectKey = workObjectKeys[index] ?? null
      const work = workObjectKey === null ? made.task.work : headOfWork(made.task.work)
      return { ...made, task: { ...made.task, work, workObjectKey } }
    }),
    valueUploads: writer.uploads,
  }
}

async function spillWork(writer: ValueWriter, prefix: string, task: TaskDraft["task"]) {
  const room = ROW_BYTES_MAX - RESULT_BYTES_MAX - rowBytes(tasks, { ...task, work: null })
  return await spill(writer, prefix, task.work, { room, isPacked: false })
}

/**
 * A transition of a job, of which `read` are the rows, that leaves room in each row, and the uploads that
 * its batch forgets. The tasks of a job that ends are folded into its row where they have room there.
 */
export async function spillTransition(
  writer: ValueWriter,
  read: JobSnapshot,
  transition: Transition,
): Promise<Transition> {
  const prefix = jobPrefix(writer.database.accountId, read.job.id)
  const job = await spillJob(writer, prefix, read, transition)
  const [changedTasks, changedFiles, delivery] = await Promise.all([
    Promise.all(
      transition.tasks.map(async (change) => {
        return job.endedTasks ? change : await spillTaskResult(writer, prefix, read, change)
      }),
    ),
    Promise.all(transition.files.map(async (change) => await spillFile(writer, read, change))),
    transition.delivery && spillDelivery(writer, transition.delivery),
  ])
  const spilled = { ...transition, job, tasks: changedTasks, files: changedFiles }
  return { ...spilled, valueUploads: writer.uploads, ...(delivery && { delivery }) }
}

async function spillJob(
  writer: ValueWriter,
  prefix: string,
  read: JobSnapshot,
  transition: Transition,
): Promise<Transition["job"]> {
  const { result, errorLines, warnings, ...others } = transition.job
  const short: Transition["job"] = { ...others }
  const used = rowBytes(jobs, { ...read.job, ...others, endedTasks: null, ...NO_TEXTS })
  let room = ROW_BYTES_MAX - used - 2 * HEAD_BYTES
  if (errorLines) {
    short.errorLines = lastOf(errorLines, room / 2)
    room -= valueBytes(short.errorLines)
  }
  if (warnings) {
    short.warnings = firstOf(warnings, room / 2)
    room -= valueBytes(short.warnings)
  }
  if (result) {
    const kept = await spillResult(writer, prefix, result, room)
    room -= valueBytes(kept.result)
    Object.assign(short, kept)
  }
  const endedTasks = foldTasks(read, transition)
  const hasRoom = endedTasks !== null && exportedBytes(endedTasks) <= room
  return hasRoom ? { ...short, endedTasks } : short
}

const NO_TEXTS = { result: null, errorLines: null, warnings: null }

async function spillResult(
  writer: ValueWriter,
  prefix: string,
  result: JobResult,
  room: number,
): Promise<Pick<Job, "result"> & { resultObjectKey?: string }> {
  const lengthMax = resultLengthMax(result)
  const resultObjectKey = await spill(writer, prefix, result, { room, lengthMax })
  if (resultObjectKey === null) return { result }
  const head = headOfResult(result)
  return { result: valueBytes(head) <= room ? head : null, resultObjectKey }
}

/** Members of bundles are shown by single records alone; the answers of lookups are in no list. */
function resultLengthMax({ outputs, metadata }: JobResult): number {
  if (outputs.some((output) => output.files !== undefined)) return 0
  return metadata ? Infinity : LISTED_BYTES_MAX
}

async function spillTaskResult(
  writer: ValueWriter,
  prefix: string,
  read: JobSnapshot,
  { id, set }: Transition["tasks"][number],
): Promise<Transition["tasks"][number]> {
  const { result } = set
  if (!result) return { id, set }
  const row = { ...read.tasks.find((task) => task.id === id), ...set, result: null }
  const room = ROW_BYTES_MAX - rowBytes(tasks, row)
  const resultObjectKey = await spill(writer, prefix, result, { room, isPacked: false })
  if (resultObjectKey === null) return { id, set }
  return { id, set: { ...set, result: { kind: result.kind }, resultObjectKey } }
}

async function spillFile(
  writer: ValueWriter,
  read: JobSnapshot,
  { id, set }: Transition["files"][number],
): Promise<Transition["files"][number]> {
  const { probe, bundle } = set
  const known = read.files.find((file) => file.id === id)
  const objectKey = set.objectKey ?? known?.objectKey
  if (!objectKey || (!probe && !bundle)) return { id, set }
  const prefix = prefixOf(objectKey)
  const room = ROW_BYTES_MAX - rowBytes(files, { ...known, ...set, probe: null, bundle: null })
  const [probeObjectKey, bundleObjectKey] = await Promise.all([
    probe
      ? spill(writer, prefix, probe, { room: room - HEAD_BYTES, lengthMax: LISTED_BYTES_MAX })
      : null,
    bundle ? spill(writer, prefix, bundle, { room, lengthMax: 0 }) : null,
  ])
  const { members: _, ...head } = bundle ?? {}
  return {
    id,
    set: {
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
    },
  }
}

async function spillDelivery(writer: ValueWriter, delivery: NewDelivery): Promise<NewDelivery> {
  const prefix = deliveryPrefix(writer.database.accountId, delivery.id)
  const used = rowBytes(deliveries, { ...delivery, body: null })
  const room = ROW_BYTES_MAX - END_BYTES - used
  if (fits(delivery.body, { room })) return delivery
  const bodyObjectKey = await writeText(writer, prefix, delivery.body)
  return { ...delivery, body: "", bodyObjectKey }
}

/** Room for a value: bytes of an export, characters of its JSON, and whether its column is packed. */
type Room = { room: number; lengthMax?: number; isPacked?: boolean }

/** Writes a value to R2 where its row has no room for it; answers its object's key, null where it fits. */
async function spill(
  writer: ValueWriter,
  prefix: string,
  value: unknown,
  room: Room,
): Promise<string | null> {
  const text = JSON.stringify(value)
  return fits(text, room) ? null : await writeText(writer, prefix, text)
}

function fits(text: string, { room, lengthMax = Infinity, isPacked = true }: Room): boolean {
  if (text.length > lengthMax) return false
  return isSurelyShort(text, room) || exportedBytes(isPacked ? packText(text) : text) <= room
}

function valueBytes(value: unknown): number {
  return exportedBytes(packText(JSON.stringify(value)))
}

/** As many of the last lines as have room. */
function lastOf(lines: string[], room: number): string[] {
  const from = lines.findIndex((_, at) => valueBytes(lines.slice(at)) <= room)
  return from === -1 ? [] : lines.slice(from)
}

/** As many of the first values as have room. */
function firstOf<Value>(values: Value[], room: number): Value[] {
  const last = values.findLastIndex((_, at) => valueBytes(values.slice(0, at + 1)) <= room)
  return values.slice(0, last + 1)
}
