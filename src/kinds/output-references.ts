import type { File } from "../db/schema/files.ts"
import type { Job } from "../db/schema/jobs.ts"
import { isCallerFileSource } from "../domain/states.ts"
import type { Kind } from "./kind.ts"
import { findKind } from "./registry.ts"

/**
 * Output name in references to the output of a job that stores a single file, such as an import.
 */
const ONLY_OUTPUT = "file"

/** Job whose outputs a reference can name, with its files. */
export type JobWithOutputs = Pick<Job, "id" | "kind"> & {
  /** Result of the job; null or absent until the job has succeeded. */
  result?: Job["result"]
  files: readonly File[]
}

/**
 * Returns the file of the output that a reference names. `file` is null for a deleted file. If the
 * job has no such output, returns the names of all its outputs.
 */
export function findReferencedOutput(
  job: JobWithOutputs,
  name: string,
): { fileId: string; file: File | null } | { names: string[] } {
  const outputs = listOutputs(job)
  const fileId = outputs.get(name) ?? job.files.find(({ outputKey }) => outputKey === name)?.id
  if (fileId === undefined) return { names: [...outputs.keys()] }
  return { fileId, file: job.files.find(({ id }) => id === fileId) ?? null }
}

/** Returns the name of an output in references such as `svc_id://<job>/<name>`. */
export function getReferencedOutputName(
  kind: Pick<Kind, "outputName"> | null,
  key: string,
): string {
  return kind?.outputName?.(key) ?? key
}

/** Returns the ids of a job's output files by the names that references use. */
function listOutputs({ id: jobId, kind, result = null, files }: JobWithOutputs) {
  const definition = findKind(kind)
  const own = files.filter(({ id, source }) => id === jobId || !isCallerFileSource(source))
  return new Map([
    ...own.map(({ id, outputKey }) => {
      return [
        outputKey === null ? ONLY_OUTPUT : getReferencedOutputName(definition, outputKey),
        id,
      ] as const
    }),
    // Adds the outputs in the job's result. Identical renditions share one file, and only the
    // result has the id of the shared file.
    ...(result?.outputs ?? []).map(
      ({ key, fileId }) => [getReferencedOutputName(definition, key), fileId] as const,
    ),
  ])
}
