import { normalizeTask } from "../../contract/tasks/normalize.ts"
import type { DoneTasks, Finish } from "../kind.ts"
import { finishOutputs } from "../outputs.ts"

/** The finish of a normalization: its one output, and what was measured. */
export function finishNormalize({ files, tasks }: DoneTasks): Finish {
  const [done] = tasks
  if (!done) return { files: [], result: { outputs: [] } }
  const { measurements, normalization_type, target_reached, format, converted_from } =
    normalizeTask.result.parse(done.result)
  const stored = finishOutputs({ files, tasks })
  return {
    files: stored.files,
    result: {
      ...stored.result,
      normalized: { measurements, normalization_type, target_reached, format, converted_from },
    },
  }
}
