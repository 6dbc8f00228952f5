import { z } from "zod"
import { archiveNameOf, bundleKindOf } from "../contract/bundle.ts"
import type { Bundle, Member } from "../contract/bundle.ts"
import { OUTPUTS_MAX, outputReport } from "../contract/report.ts"
import type { OutputReport } from "../contract/report.ts"
import { outputObjectKey } from "../storage/objects.ts"
import type { File } from "../storage/schema/files.ts"
import type { JobResult } from "../storage/schema/jobs.ts"
import type { Task } from "../storage/schema/tasks.ts"
import type { DoneTasks, Finish, ListedMember } from "./kind.ts"
import { findPicture, shownPicture } from "./shown-picture.ts"

/** An output, and its name where that is known at the end only. */
const namedOutput = outputReport.extend({ name: z.string().optional() })

const outputsResult = z.looseObject({ outputs: z.array(namedOutput).max(OUTPUTS_MAX) })

/** The finish of a kind whose tasks report outputs, each of which is a file of the job. */
export function finishOutputs({ files, tasks }: Pick<DoneTasks, "files" | "tasks">): Finish {
  const stored = tasks.flatMap(({ task, result }) =>
    outputsResult.parse(result).outputs.flatMap((output) => {
      const file = files.find((known) => known.outputKey === output.key)
      return file ? [{ task, file: { ...file, name: output.name ?? file.name }, output }] : []
    }),
  )
  return {
    files: stored.map(({ task, file, output }) => ({
      id: file.id,
      set: {
        ...storedFile(task, file, output),
        name: keptName(file, output),
      },
    })),
    result: { outputs: stored.map(({ file, output }) => outputResult(file, output)) },
  }
}

/** The name of a stored output: a series is one archive to its caller, and no pattern any more. */
function keptName({ name }: File, { members }: OutputReport): string {
  return members && bundleKindOf(name) === "series" ? archiveNameOf(name) : name
}

/** The facts of a file that a task stored as one of its outputs. */
export function storedFile(task: Task, file: File, output: OutputReport): Partial<File> {
  const attempt = { taskId: task.id, fence: task.fence }
  return {
    objectKey: outputObjectKey(task.accountId, attempt, output.key),
    sizeBytes: output.size_bytes,
    contentType: output.content_type,
    sha256: output.sha256 ?? null,
    probe: output.probe ?? null,
    probeError: output.probe_error ?? null,
    bundle: bundleOf(file, output),
  }
}

function bundleOf(
  { name }: File,
  { members, playlist, duration_seconds }: OutputReport,
): Bundle | null {
  const kind = bundleKindOf(name)
  if (kind === null || !members) return null
  return {
    kind,
    members,
    ...(playlist !== undefined && { playlist }),
    ...(duration_seconds !== undefined && { durationSeconds: duration_seconds }),
  }
}

/** What the result of a job keeps of an output. */
export function outputResult(file: File, output: OutputReport): JobResult["outputs"][number] {
  const durationSeconds = output.probe?.duration ?? output.duration_seconds
  return {
    key: output.key,
    fileId: file.id,
    name: keptName(file, output),
    sizeBytes: output.size_bytes,
    contentType: output.content_type,
    ...codecOf(output),
    ...(durationSeconds !== undefined && { durationSeconds }),
    ...(output.probe && shownPicture(output.probe)),
    ...(output.playlist !== undefined && { playlist: output.playlist }),
    ...(output.members && { files: output.members.map(withoutChecksum) }),
  }
}

const CODEC_LENGTH_MAX = 100

/** The codec of the picture, or of the sound where there is none. */
function codecOf({ probe }: OutputReport): { codec?: string } {
  const shown = probe && findPicture(probe)
  const heard = probe?.streams.find((stream) => stream["codec_type"] === "audio")
  const codec = (shown ?? heard)?.["codec_name"]
  return typeof codec === "string" ? { codec: codec.slice(0, CODEC_LENGTH_MAX) } : {}
}

function withoutChecksum({ name, size_bytes, content_type }: Member): ListedMember {
  return { name, size_bytes, content_type }
}
