import { renderTask } from "../../contract/tasks/render.ts"
import type { Finish, FinishedTask } from "../kind.ts"
import type { File } from "../../storage/schema/files.ts"
import { finishOutputs } from "../outputs.ts"
import { renditionNames } from "./names.ts"

/** The finish of a task that made renditions, named after the file that they were made from. */
export function finishRenditions(
  files: File[],
  { task, result }: FinishedTask,
  sourceName: string,
): Finish {
  const { renditions } = renderTask.work.parse(task.work)
  const made = renderTask.result.parse(result)
  const names = renditionNames(sourceName, renditions)
  const outputs = made.outputs.map((output) => ({ ...output, name: names.get(output.key) }))
  const stored = finishOutputs({ files, tasks: [{ task, result: { ...made, outputs } }] })
  const codecs = new Map(renditions.map(({ key, codec }) => [key, codec]))
  const qualities = new Map(made.outputs.map(({ key, quality }) => [key, quality]))
  return {
    files: stored.files,
    result: {
      outputs: stored.result.outputs.map((output) => {
        const codec = codecs.get(output.key)
        const quality = qualities.get(output.key)
        return { ...output, ...(codec && { codec }), ...(quality && { quality }) }
      }),
    },
  }
}
