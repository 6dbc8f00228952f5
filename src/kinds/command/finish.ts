import type { DoneTasks, Finish } from "../kind.ts"
import { finishOutputs } from "../outputs.ts"

/** The finish of a command, whose record also says the checksums that its files have. */
export function finishCommand(done: Pick<DoneTasks, "files" | "tasks">): Finish {
  const finish = finishOutputs(done)
  const checksums = new Map(finish.files.map(({ id, set }) => [id, set.sha256]))
  const outputs = finish.result.outputs.map((output) => {
    const sha256 = checksums.get(output.fileId)
    return sha256 ? { ...output, sha256 } : output
  })
  return { ...finish, result: { ...finish.result, outputs } }
}
