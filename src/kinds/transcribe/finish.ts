import { transcribeTask } from "../../contract/tasks/transcribe.ts"
import type { DoneTasks, Finish } from "../kind.ts"
import { finishOutputs } from "../outputs.ts"

/** The finish of a transcription: its text in every format, the asked one first. */
export function finishTranscribe({ files, tasks }: Pick<DoneTasks, "files" | "tasks">): Finish {
  const [done] = tasks
  if (!done) return { files: [], result: { outputs: [] } }
  const { language, duration_seconds, text } = transcribeTask.result.parse(done.result)
  const stored = finishOutputs({ files, tasks })
  const order = done.task.work.outputs?.map(({ key }) => key) ?? []
  const outputs = stored.result.outputs
    .toSorted((one, other) => order.indexOf(one.key) - order.indexOf(other.key))
    // What has times is as long as the sound.
    .map((output) => ({
      ...output,
      ...(output.key !== "txt" && { durationSeconds: duration_seconds }),
    }))
  return {
    files: stored.files,
    result: { outputs, transcribed: { language, duration_seconds, text } },
  }
}
