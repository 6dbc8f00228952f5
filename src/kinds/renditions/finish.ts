import { renderTaskDefinition } from "../../contract/tasks/render.ts"
import type { RenderResult } from "../../contract/tasks/render.ts"
import type { FileColumnsAndJobResult, FinishedTask } from "../kind.ts"
import type { File } from "../../db/schema/files.ts"
import { computeOutputColumnsAndResult } from "../outputs.ts"
import { buildRenditionFileNames } from "./names.ts"

/**
 * Returns the new column values of the job's files, and the job's result, after a task that encodes
 * renditions. Renditions are named after their source file. Identical renditions share one file,
 * which is the output of each of them.
 */
export function computeRenditionColumnsAndResult(
  files: File[],
  { task, result }: FinishedTask,
  sourceName: string,
): FileColumnsAndJobResult {
  const { renditions } = renderTaskDefinition.work.parse(task.work)
  const rendered = renderTaskDefinition.result.parse(result)
  const names = buildRenditionFileNames(sourceName, renditions)
  const outputs = rendered.outputs.map((output) => ({ ...output, name: names.get(output.key) }))
  const stored = computeOutputColumnsAndResult({
    files,
    tasks: [{ task, result: { ...rendered, outputs } }],
  })
  const made = new Map(stored.result.outputs.map((output) => [output.key, output]))
  const qualities = new Map(rendered.outputs.map(({ key, quality }) => [key, quality]))
  const sameAs = new Map(rendered.same?.map(({ key, same_as }) => [key, same_as]))
  return {
    files: [...stored.files, ...failDuplicates(files, rendered)],
    sameFiles: (rendered.same ?? []).flatMap(({ key, same_as }) => {
      const [file, other] = [key, same_as].map((each) =>
        files.find(({ outputKey }) => outputKey === each),
      )
      return file && other ? [{ id: file.id, sameAs: other.id }] : []
    }),
    result: {
      outputs: renditions.flatMap(({ key, codec }) => {
        const madeKey = sameAs.get(key) ?? key
        const output = made.get(madeKey)
        const quality = qualities.get(madeKey)
        return output ? [{ ...output, key, codec, ...(quality && { quality }) }] : []
      }),
    },
  }
}

/**
 * Returns changes that mark a rendition's file as failed if the rendition was not encoded, because
 * it is identical to another rendition.
 */
function failDuplicates(
  files: readonly File[],
  { same = [] }: RenderResult,
): FileColumnsAndJobResult["files"] {
  return same.flatMap(({ key, same_as }) => {
    const file = files.find(({ outputKey }) => outputKey === key)
    const errorMessage = `The rendition is the same as ${same_as}, which was encoded once.`
    const set = { state: "failed", errorCode: "not_found", errorMessage } as const
    return file ? [{ id: file.id, set }] : []
  })
}
