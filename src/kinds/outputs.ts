import { z } from "zod"
import { makeOutputZipName, makeStoredBundleZipName, findBundleKind } from "../contract/bundle.ts"
import type { Bundle, BundleMember, OutputName } from "../contract/bundle.ts"
import { OUTPUTS_MAX, outputReportSchema } from "../contract/report.ts"
import type { OutputReport } from "../contract/report.ts"
import { makeOutputObjectKey } from "../domain/object-keys.ts"
import type { File } from "../db/schema/files.ts"
import type { JobResult } from "../db/schema/jobs.ts"
import type { Task } from "../db/schema/tasks.ts"
import type { FinishedTasks, FileColumnsAndJobResult, BundleMemberSummary } from "./kind.ts"
import { findVideoStream, computeDisplayGeometry } from "./display-geometry.ts"

/**
 * Output in the report of a task. The report has a name only for outputs whose names were unknown
 * until the task ended, such as downloaded media.
 */
const namedOutput = outputReportSchema.extend({ name: z.string().optional() })

const outputsResult = z.looseObject({ outputs: z.array(namedOutput).max(OUTPUTS_MAX) })

/**
 * Converts the outputs that tasks reported to new column values of the job's files, and to the
 * job's result.
 */
export function computeOutputColumnsAndResult({
  files,
  tasks,
}: Pick<FinishedTasks, "files" | "tasks">): FileColumnsAndJobResult {
  const stored = tasks.flatMap(({ task, result }) =>
    outputsResult.parse(result).outputs.flatMap((output) => {
      const file = files.find((file) => file.outputKey === output.key)
      const planned = task.work.outputs?.find(({ key }) => key === output.key)
      if (!file) return []
      const named = { ...file, name: output.name ?? file.name, has_times: planned?.has_times }
      return [{ task, file: named, output }]
    }),
  )
  return {
    files: stored.map(({ task, file, output }) => ({
      id: file.id,
      set: {
        ...toStoredFileColumns(task, file, output),
        name: storedName(file, output),
      },
    })),
    result: { outputs: stored.map(({ file, output }) => toOutputResult(file, output)) },
  }
}

/**
 * Returns the name of a stored output. Callers download a series of files as a ZIP archive, so that
 * the name of the archive replaces the name pattern of the series.
 */
function storedName(file: OutputName, { members }: OutputReport): string {
  return members && findBundleKind(file) === "series" ? makeOutputZipName(file) : file.name
}

/** Returns the column values of a file that a task has stored as an output. */
export function toStoredFileColumns(
  task: Task,
  file: OutputName,
  output: OutputReport,
): Partial<File> {
  const attempt = { taskId: task.id, fence: task.fence }
  return {
    objectKey: makeOutputObjectKey(task.accountId, attempt, output.key),
    sizeBytes: output.size_bytes,
    contentType: output.content_type,
    sha256: output.sha256 ?? null,
    probe: output.probe ?? null,
    probeError: output.probe_error ?? null,
    bundle: buildBundle(file, output),
  }
}

function buildBundle(
  file: OutputName,
  { members, playlist, duration_seconds }: OutputReport,
): Bundle | null {
  const kind = findBundleKind(file)
  if (kind === null || !members) return null
  return {
    kind,
    members,
    ...(playlist !== undefined && { playlist }),
    ...(duration_seconds !== undefined && { durationSeconds: duration_seconds }),
  }
}

/** Converts an output that a task reported to its entry in the job's result. */
export function toOutputResult(
  file: Pick<File, "id"> & OutputName,
  output: OutputReport,
): JobResult["outputs"][number] {
  const name = storedName(file, output)
  const durationSeconds = output.probe?.duration ?? output.duration_seconds
  return {
    key: output.key,
    fileId: file.id,
    name,
    sizeBytes: output.size_bytes,
    contentType: output.content_type,
    ...(output.sha256 !== undefined && { sha256: output.sha256 }),
    ...codecField(output),
    ...(durationSeconds !== undefined && { durationSeconds }),
    ...(output.probe && computeDisplayGeometry(output.probe)),
    ...(output.playlist !== undefined && { playlist: output.playlist }),
    ...(output.members && {
      archive: makeStoredBundleZipName(name),
      files: output.members.map(summarizeMember),
    }),
  }
}

const CODEC_LENGTH_MAX = 100

/**
 * Returns the codec of the output's video stream, or of its audio stream if the output has no
 * video.
 */
function codecField({ probe }: OutputReport): { codec?: string } {
  const video = probe && findVideoStream(probe)
  const audio = probe?.streams.find((stream) => stream["codec_type"] === "audio")
  const codec = (video ?? audio)?.["codec_name"]
  return typeof codec === "string" ? { codec: codec.slice(0, CODEC_LENGTH_MAX) } : {}
}

function summarizeMember({ name, size_bytes, content_type }: BundleMember): BundleMemberSummary {
  return { name, size_bytes, content_type }
}
