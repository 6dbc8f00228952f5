import { packEndedTasks } from "../jobs/ended-tasks.ts"
import {
  computeMaxExportedValueBytes,
  fitsInExportByTextLength,
  EXPORTED_ROW_BYTES_MAX,
  computeMaxExportedRowBytes,
} from "./exported-bytes.ts"
import type { JobDraft, TaskDraft } from "../../domain/job-draft.ts"
import { awaitLargeValueWrites, writeLargeText } from "./large-values.ts"
import type { LargeValueWriter } from "./large-values.ts"
import {
  makeDeliveryKeyPrefix,
  makeJobValuesKeyPrefix,
  getFileKeyPrefix,
} from "../../domain/object-keys.ts"
import { compressText } from "./compressed-text.ts"
import type { NewDelivery } from "../deliveries.ts"
import { deliveries } from "../schema/deliveries.ts"
import { files } from "../schema/files.ts"
import { jobs } from "../schema/jobs.ts"
import type { Job, JobResult } from "../schema/jobs.ts"
import { tasks } from "../schema/tasks.ts"
import { shortenJobRequest, shortenJobResult, shortenTaskWork } from "./value-heads.ts"
import type { JobTransition } from "../jobs/apply-transition.ts"
import type { JobSnapshot } from "../../domain/snapshot.ts"

// Decides which values are too large for their row. Such a value overflows ("spills"): the whole
// value becomes an R2 object, and a column stores the object's key. The row keeps a short head of
// the value for lists and frequent reads.

/**
 * Maximum length of a value that stays in a row, in characters of its JSON, if lists read the
 * column. Longer values are stored in R2.
 */
const LISTED_BYTES_MAX = 16 * 1024
/**
 * Maximum length of a standard output that lists of jobs show, in characters. The length suffices
 * for hashes and a few numbers.
 */
const LISTED_STDOUT_MAX = 2 * 1024
/**
 * Bytes of a job's row that are reserved for the failure and the warnings, which the end of the job
 * writes.
 */
const END_BYTES = 6_000
const HEAD_BYTES = 1_500
/** Bytes of a task's row that are reserved for its result. */
const RESULT_BYTES_MAX = 8_000

/**
 * Writes to R2 the values of a draft that are too large for their rows. Returns the draft with
 * heads (shortened values) in their place. `valueUploads` tracks the written objects in `uploads`;
 * the batch that inserts the draft must delete these rows.
 */
export async function spillDraftToR2(writer: LargeValueWriter, draft: JobDraft): Promise<JobDraft> {
  const prefix = makeJobValuesKeyPrefix(writer.database.accountId, draft.job.id)
  const { request } = draft.job
  const room =
    EXPORTED_ROW_BYTES_MAX -
    END_BYTES -
    computeMaxExportedRowBytes(jobs, { ...draft.job, request: null })
  const [requestObjectKey = null, ...workObjectKeys] = await awaitLargeValueWrites([
    spill(writer, prefix, request, { room, lengthMax: LISTED_BYTES_MAX }),
    ...draft.tasks.map(({ task }) => spillWork(writer, prefix, task)),
  ])
  if (writer.uploads.length === 0) return draft
  const inRow = requestObjectKey === null ? request : shortenJobRequest(request)
  return {
    ...draft,
    job: { ...draft.job, request: inRow, requestObjectKey },
    tasks: draft.tasks.map((draftTask, index) => {
      const workObjectKey = workObjectKeys[index] ?? null
      const work =
        workObjectKey === null ? draftTask.task.work : shortenTaskWork(draftTask.task.work)
      return { ...draftTask, task: { ...draftTask.task, work, workObjectKey } }
    }),
    valueUploads: writer.uploads,
  }
}

async function spillWork(writer: LargeValueWriter, prefix: string, task: TaskDraft["task"]) {
  const room =
    EXPORTED_ROW_BYTES_MAX -
    RESULT_BYTES_MAX -
    computeMaxExportedRowBytes(tasks, { ...task, work: null })
  return await spill(writer, prefix, task.work, { room, isPacked: false })
}

/**
 * Writes to R2 the values of a transition that are too large for their rows. Returns the transition
 * with heads (shortened values) in their place. `read` is the snapshot of the job before the
 * transition. If the transition ends the job, the tasks move into the job's row, provided that they
 * fit.
 */
export async function spillTransitionToR2(
  writer: LargeValueWriter,
  read: JobSnapshot,
  transition: JobTransition,
): Promise<JobTransition> {
  const prefix = makeJobValuesKeyPrefix(writer.database.accountId, read.job.id)
  const job = await spillJob(writer, prefix, read, transition)
  const [changedTasks, changedFiles, spilledDeliveries] = await Promise.all([
    Promise.all(
      transition.tasks.map(async (change) => {
        return job.endedTasks ? change : await spillTaskResult(writer, prefix, read, change)
      }),
    ),
    Promise.all(transition.files.map(async (change) => await spillFile(writer, read, change))),
    Promise.all(
      (transition.deliveries ?? []).map(
        async (delivery) => await spillDeliveryToR2(writer, delivery),
      ),
    ),
  ])
  const spilled = { ...transition, job, tasks: changedTasks, files: changedFiles }
  return { ...spilled, valueUploads: writer.uploads, deliveries: spilledDeliveries }
}

async function spillJob(
  writer: LargeValueWriter,
  prefix: string,
  read: JobSnapshot,
  transition: JobTransition,
): Promise<JobTransition["job"]> {
  const { result, errorLines, warnings, ...others } = transition.job
  const short: JobTransition["job"] = { ...others }
  const texts = { result: null, errorLines: null, ...(warnings && { warnings: null }) }
  const rowSize = computeMaxExportedRowBytes(jobs, {
    ...read.job,
    ...others,
    endedTasks: null,
    ...texts,
  })
  let room = EXPORTED_ROW_BYTES_MAX - rowSize - 2 * HEAD_BYTES
  if (errorLines) {
    short.errorLines = lastOf(errorLines, room / 2)
    room -= valueBytes(short.errorLines)
  }
  if (warnings) {
    short.warnings = firstOf(warnings, room / 2)
    room -= valueBytes(short.warnings)
  }
  if (result) {
    const fitting = await spillResult(writer, prefix, result, room)
    room -= valueBytes(fitting.result)
    Object.assign(short, fitting)
  }
  const endedTasks = packEndedTasks(read, transition)
  const hasRoom = endedTasks !== null && computeMaxExportedValueBytes(endedTasks) <= room
  return hasRoom ? { ...short, endedTasks } : short
}

async function spillResult(
  writer: LargeValueWriter,
  prefix: string,
  result: JobResult,
  room: number,
): Promise<Pick<Job, "result"> & { resultObjectKey?: string }> {
  const lengthMax = resultLengthMax(result)
  const resultObjectKey = await spill(writer, prefix, result, { room, lengthMax })
  if (resultObjectKey === null) return { result }
  const head = shortenJobResult(result)
  return { result: valueBytes(head) <= room ? head : null, resultObjectKey }
}

/**
 * Returns the maximum length of a result that stays in its row. 0 for results with bundle members
 * or long standard output: lists show neither, so that these results always go to R2. Unlimited for
 * metadata lookups, which no list contains.
 */
function resultLengthMax({ outputs, metadata, stdout = "" }: JobResult): number {
  if (stdout.length > LISTED_STDOUT_MAX) return 0
  if (outputs.some((output) => output.files !== undefined)) return 0
  return metadata ? Infinity : LISTED_BYTES_MAX
}

async function spillTaskResult(
  writer: LargeValueWriter,
  prefix: string,
  read: JobSnapshot,
  { id, set }: JobTransition["tasks"][number],
): Promise<JobTransition["tasks"][number]> {
  const { result } = set
  if (!result) return { id, set }
  const row = { ...read.tasks.find((task) => task.id === id), ...set, result: null }
  const room = EXPORTED_ROW_BYTES_MAX - computeMaxExportedRowBytes(tasks, row)
  const resultObjectKey = await spill(writer, prefix, result, { room, isPacked: false })
  if (resultObjectKey === null) return { id, set }
  return { id, set: { ...set, result: { kind: result.kind }, resultObjectKey } }
}

async function spillFile(
  writer: LargeValueWriter,
  read: JobSnapshot,
  { id, set }: JobTransition["files"][number],
): Promise<JobTransition["files"][number]> {
  const { probe, bundle } = set
  const earlierFile = read.files.find((file) => file.id === id)
  const objectKey = set.objectKey ?? earlierFile?.objectKey
  if (!objectKey || (!probe && !bundle)) return { id, set }
  const prefix = getFileKeyPrefix(objectKey)
  const room =
    EXPORTED_ROW_BYTES_MAX -
    computeMaxExportedRowBytes(files, { ...earlierFile, ...set, probe: null, bundle: null })
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

export async function spillDeliveryToR2<Row extends NewDelivery>(
  writer: LargeValueWriter,
  delivery: Row,
): Promise<Row> {
  const prefix = makeDeliveryKeyPrefix(writer.database.accountId, delivery.id)
  const rowSize = computeMaxExportedRowBytes(deliveries, { ...delivery, body: null })
  const room = EXPORTED_ROW_BYTES_MAX - END_BYTES - rowSize
  if (fits(delivery.body, { room })) return delivery
  const bodyObjectKey = await writeLargeText(writer, prefix, delivery.body)
  return { ...delivery, body: "", bodyObjectKey }
}

/**
 * Conditions under which a value stays in its row: `room` is the maximum size in an SQL export in
 * bytes, `lengthMax` the maximum length as JSON, and `isPacked` false for an uncompressed column.
 */
type Room = { room: number; lengthMax?: number; isPacked?: boolean }

/**
 * Writes a value to R2 if its row has no room for the value. Returns the key of the R2 object; null
 * if the value fits into the row.
 */
async function spill(
  writer: LargeValueWriter,
  prefix: string,
  value: unknown,
  room: Room,
): Promise<string | null> {
  const text = JSON.stringify(value)
  return fits(text, room) ? null : await writeLargeText(writer, prefix, text)
}

function fits(text: string, { room, lengthMax = Infinity, isPacked = true }: Room): boolean {
  if (text.length > lengthMax) return false
  return (
    fitsInExportByTextLength(text, room) ||
    computeMaxExportedValueBytes(isPacked ? compressText(text) : text) <= room
  )
}

function valueBytes(value: unknown): number {
  return computeMaxExportedValueBytes(compressText(JSON.stringify(value)))
}

/** Returns the last lines of a list, as many as fit into `room` bytes. */
function lastOf(lines: string[], room: number): string[] {
  const from = lines.findIndex((_, at) => valueBytes(lines.slice(at)) <= room)
  return from === -1 ? [] : lines.slice(from)
}

/** Returns the first values of a list, as many as fit into `room` bytes. */
function firstOf<Value>(values: Value[], room: number): Value[] {
  const last = values.findLastIndex((_, at) => valueBytes(values.slice(0, at + 1)) <= room)
  return values.slice(0, last + 1)
}
