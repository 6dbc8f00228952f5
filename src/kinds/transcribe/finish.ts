import { transcribeTask } from "../../contract/tasks/transcribe.ts"
import type { DoneTasks, Finish } from "../kind.ts"
import { finishOutputs } from "../outputs.ts"

/** Media types of transcripts, all of which are UTF-8. */
const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ["json", "application/json"],
  ["srt", "application/x-subrip"],
  ["vtt", "text/vtt"],
  ["txt", "text/plain; charset=utf-8"],
])

/** The finish of a transcription: its text in every format, the asked one first. */
export function finishTranscribe({ files, tasks }: Pick<DoneTasks, "files" | "tasks">): Finish {
  const [done] = tasks
  if (!done) return { files: [], result: { outputs: [] } }
  const { language, duration_seconds, text } = transcribeTask.result.parse(done.result)
  const stored = finishOutputs({ files, tasks })
  const order = done.task.work.outputs?.map(({ key }) => key) ?? []
  const outputs = stored.result.outputs
    .toSorted((one, other) => order.indexOf(one.key) - order.indexOf(other.key))
    .map(({ key, fileId, name, sizeBytes, contentType }) => ({
      key,
      fileId,
      name,
      sizeBytes,
      contentType: CONTENT_TYPES.get(key) ?? contentType,
      // What has times is as long as the sound.
      ...(key !== "txt" && { durationSeconds: duration_seconds }),
    }))
  const types = new Map(outputs.map(({ fileId, contentType }) => [fileId, contentType]))
  return {
    files: stored.files.map(({ id, set }) => {
      const contentType = types.get(id) ?? null
      return { id, set: { ...set, contentType } }
    }),
    result: { outputs, transcribed: { language, duration_seconds, text } },
  }
}
