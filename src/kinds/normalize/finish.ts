import { normalizeTask } from "../../contract/tasks/normalize.ts"
import type { DoneTasks, Finish } from "../kind.ts"
import { outputResult, storedFile } from "../outputs.ts"

/** The finish of a normalization: its one output, whose name is known by now, and what was measured. */
export function finishNormalize({ files, tasks }: DoneTasks): Finish {
  const [done] = tasks
  if (!done) return { files: [], result: { outputs: [] } }
  const { outputs, measurements, normalization_type, target_reached, format, converted_from } =
    normalizeTask.result.parse(done.result)
  const stored = outputs.flatMap((output) => {
    const file = files.find(({ outputKey }) => outputKey === output.key)
    return file ? [{ output, file: { ...file, name: output.name } }] : []
  })
  return {
    files: stored.map(({ output, file }) => {
      return { id: file.id, set: { name: file.name, ...storedFile(done.task, file, output) } }
    }),
    result: {
      outputs: stored.map(({ output, file }) => outputResult(file, output)),
      normalized: { measurements, normalization_type, target_reached, format, converted_from },
    },
  }
}
