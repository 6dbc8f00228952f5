import { bundleKindOf } from "../contract/bundle.ts"
import type { Bundle, Member } from "../contract/bundle.ts"
import type { Failure } from "../contract/failure.ts"
import type { OutputReport, Report } from "../contract/report.ts"
import { isFinal } from "../contract/state.ts"
import type { FinalState } from "../contract/state.ts"
import type { Moves, Snapshot } from "../storage/jobs.ts"
import { earlierPrefixes, outputObjectKey, taskPrefix } from "../storage/objects.ts"
import type { File, JobResult, Task } from "../storage/schema.ts"
import { isSpent, reschedule, runnerLost } from "./task.ts"
import type { Setback } from "./task.ts"

export type TerminalReport = Extract<Report, { kind: "finished" | "failed" | "interrupted" }>

/**
 * What a report moves. Null: it does not count, because the job is over or the task runs at
 * another fence.
 */
export function settleMoves(
  snapshot: Snapshot,
  told: { taskId: string; fence: number; report: TerminalReport; now: number },
): Moves | null {
  const task = runningTask(snapshot, told.taskId, told.fence)
  if (!task) return null
  const { report, now } = told
  if (report.kind === "finished") return finishMoves(snapshot, task, report, now)
  if (report.kind === "interrupted") {
    return setbackMoves(snapshot, task, { kind: "interruption", failure: runnerLost() }, now)
  }
  if (report.blame === "ours") {
    return setbackMoves(snapshot, task, { kind: "failure", failure: report.failure }, now)
  }
  const processingMs = snapshot.job.processingMs + toMs(report.processing_seconds)
  const moves = endMoves(snapshot, { state: "failed", failure: report.failure, now })
  moves.job.processingMs = processingMs
  setTask(moves, task.id, { state: "failed", completedAt: now })
  return moves
}

/** Takes a task back from a runner that was lost: it waits again, or its job ends. */
export function takeBackMoves(
  snapshot: Snapshot,
  lost: { taskId: string; fence: number; counted: boolean; now: number },
): Moves | null {
  const task = runningTask(snapshot, lost.taskId, lost.fence)
  if (!task) return null
  const kind = lost.counted ? "failure" : "no capacity"
  return setbackMoves(snapshot, task, { kind, failure: runnerLost() }, lost.now)
}

export type End = { state: FinalState; failure?: Failure; now: number }

/** Ends an open job: its open tasks are closed and its files to come fail. */
export function endMoves(snapshot: Snapshot, end: End): Moves {
  const open = snapshot.tasks.filter((task) => !isFinal(task.state))
  return {
    job: {
      state: end.state,
      completedAt: end.now,
      processingMs: snapshot.job.processingMs || spentMs(snapshot, end.now),
      errorCode: end.failure?.code ?? null,
      errorMessage: end.failure?.message ?? null,
      errorLines: end.failure?.lines ?? null,
    },
    tasks: open.map((task) => ({
      id: task.id,
      set: { state: "canceled", completedAt: end.now },
    })),
    files: snapshot.files
      .filter((file) => !isFinal(file.state))
      .map((file) => ({ id: file.id, set: failedFile(file, end) })),
    garbage: open.filter((task) => task.fence > 0).map((task) => ({ prefix: placeOf(task) })),
  }
}

/** Time since the job began, for one that ends without a runner's word of what it took. */
function spentMs({ job }: Snapshot, now: number): number {
  return job.startedAt === null ? 0 : Math.max(0, now - job.startedAt)
}

function finishMoves(
  snapshot: Snapshot,
  task: Task,
  report: Extract<TerminalReport, { kind: "finished" }>,
  now: number,
): Moves {
  const others = snapshot.tasks.filter((other) => other.id !== task.id)
  const last = others.every((other) => other.state === "succeeded")
  const done = { state: "succeeded" as const, completedAt: now }
  const outputs = report.outputs.flatMap((output) => {
    const file = snapshot.files.find((known) => known.outputKey === output.key)
    return file ? [{ file, output }] : []
  })
  const probed = snapshot.files.filter((file) => report.probe && file.id === snapshot.job.id)
  return {
    job: {
      ...(last ? { ...done, result: resultOf(outputs) } : {}),
      processingMs: snapshot.job.processingMs + toMs(report.processing_seconds),
    },
    tasks: [{ id: task.id, set: done }],
    files: [
      ...outputs.map(({ file, output }) => ({
        id: file.id,
        set: { ...done, ...storedFile(task, file, output) },
      })),
      ...probed.map((file) => ({ id: file.id, set: { ...done, probe: report.probe ?? null } })),
    ],
    garbage: earlierPrefixes(task).map((prefix) => ({ prefix })),
  }
}

function setbackMoves(snapshot: Snapshot, task: Task, setback: Setback, now: number): Moves {
  const set = reschedule(task, setback)
  if (isSpent({ ...task, ...set })) {
    return endMoves(snapshot, { state: "failed", failure: setback.failure, now })
  }
  return { job: {}, tasks: [{ id: task.id, set }], files: [], garbage: [{ prefix: placeOf(task) }] }
}

function runningTask(snapshot: Snapshot, taskId: string, fence: number): Task | null {
  if (isFinal(snapshot.job.state)) return null
  const task = snapshot.tasks.find((known) => known.id === taskId)
  return task?.state === "running" && task.fence === fence ? task : null
}

function storedFile(task: Task, file: File, output: OutputReport): Partial<File> {
  const place = { accountId: task.accountId, taskId: task.id, fence: task.fence }
  return {
    objectKey: outputObjectKey(place, output.key),
    sizeBytes: output.size_bytes,
    contentType: output.content_type,
    probe: output.probe ?? null,
    probeError: output.probe_error ?? null,
    bundle: bundleOf(file, output),
  }
}

function bundleOf({ name }: File, { members, duration_seconds }: OutputReport): Bundle | null {
  const kind = bundleKindOf(name)
  if (kind === null || !members) return null
  return {
    kind,
    members,
    ...(duration_seconds !== undefined && { durationSeconds: duration_seconds }),
  }
}

function failedFile(file: File, end: End): Partial<File> {
  return {
    state: "failed",
    completedAt: end.now,
    errorCode: end.failure?.code ?? null,
    errorMessage: end.failure?.message ?? null,
    ...(file.objectKey && end.failure?.code === "probe_failed"
      ? { probeError: end.failure.message }
      : {}),
  }
}

function resultOf(outputs: { file: File; output: OutputReport }[]): JobResult {
  return {
    outputs: outputs.map(({ file, output }) => ({
      key: output.key,
      fileId: file.id,
      name: file.name,
      sizeBytes: output.size_bytes,
      contentType: output.content_type,
      ...codecOf(output),
      ...durationOf(output),
      ...(output.probe?.width !== undefined && { width: output.probe.width }),
      ...(output.probe?.height !== undefined && { height: output.probe.height }),
      ...(output.members && { files: output.members.map(withoutChecksum) }),
    })),
  }
}

function durationOf({ probe, duration_seconds }: OutputReport): { durationSeconds?: number } {
  const durationSeconds = probe?.duration ?? duration_seconds
  return durationSeconds === undefined ? {} : { durationSeconds }
}

function withoutChecksum({ name, size_bytes, content_type }: Member) {
  return { name, size_bytes, content_type }
}

/** The codec of the picture, or of the sound where there is none. */
function codecOf({ probe }: OutputReport): { codec?: string } {
  const [video, audio] = ["video", "audio"].map((type) =>
    probe?.streams.find((stream) => stream["codec_type"] === type),
  )
  const codec = (video ?? audio)?.["codec_name"]
  return typeof codec === "string" ? { codec } : {}
}

function placeOf(task: Task): string {
  return taskPrefix({ accountId: task.accountId, taskId: task.id, fence: task.fence })
}

function setTask(moves: Moves, id: string, set: Partial<Task>): void {
  const known = moves.tasks.find((move) => move.id === id)
  if (known) known.set = set
}

function toMs(seconds: number): number {
  return Math.round(seconds * 1000)
}
