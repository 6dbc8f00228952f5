import { fetchTask } from "../../contract/tasks/fetch.ts"
import type { FetchResult } from "../../contract/tasks/fetch.ts"
import { renderTask } from "../../contract/tasks/render.ts"
import type { File } from "../../storage/schema/files.ts"
import type { Task } from "../../storage/schema/tasks.ts"
import type { DoneTasks, Finish, FinishedTask } from "../kind.ts"
import { outputResult, storedFile } from "../outputs.ts"
import { finishRenditions } from "../renditions/finish.ts"

type Made = FetchResult["media"]

/** The finish of a fetch: its media, the subtitles that there were, and the renditions of the media. */
export function finishFetch({ files, tasks }: DoneTasks): Finish {
  const fetched = tasks.find(({ task }) => task.work.kind === fetchTask.name)
  if (!fetched) return { files: [], result: { outputs: [] } }
  const ofFetch = files.filter(({ source }) => source === "fetch")
  const { mediaName, ...made } = finishMedia(ofFetch, fetched)
  const rendered = tasks.find(({ task }) => task.work.kind === renderTask.name)
  if (!rendered) return made
  const renditions = finishRenditions(files, rendered, mediaName)
  const intermediates = made.result.outputs.map((output) => ({ ...output, isIntermediate: true }))
  return {
    files: [...made.files, ...renditions.files],
    result: { ...made.result, outputs: [...renditions.result.outputs, ...intermediates] },
  }
}

function finishMedia(files: File[], done: FinishedTask): Finish & { mediaName: string } {
  const fetched = fetchTask.result.parse(done.result)
  const stored = nameApart([fetched.media, ...fetched.subtitles]).flatMap((made) => {
    const file = files.find(({ outputKey }) => outputKey === made.key)
    return file ? [{ made, file: { ...file, name: made.name } }] : []
  })
  const storedIds = new Set(stored.map(({ file }) => file.id))
  return {
    mediaName: fetched.media.name,
    files: [
      ...stored.map(({ made, file }) => setOf(done.task, made, file)),
      ...files.filter(({ id }) => !storedIds.has(id)).map(({ id }) => ({ id, set: NOT_THERE })),
    ],
    result: {
      outputs: stored.map(({ made, file }) => outputResult(file, made)),
      fetched: {
        title: fetched.title,
        durationSeconds: fetched.duration_seconds,
        subtitles: fetched.subtitles.map(({ key, language }) => ({ key, language })),
      },
    },
  }
}

const NOT_THERE = {
  state: "failed",
  errorCode: "not_found",
  errorMessage: "There are no subtitles in this language.",
} as const satisfies Partial<File>

function setOf(task: Task, made: Made, file: File): Finish["files"][number] {
  return { id: file.id, set: { name: made.name, ...storedFile(task, file, made) } }
}

/** What was made under names that differ, since it is downloaded by them. */
function nameApart(made: Made[]): Made[] {
  const names = new Set<string>()
  return made.map((each) => {
    const name = names.has(each.name) ? `${each.key}.${each.name}` : each.name
    names.add(name)
    return { ...each, name }
  })
}
