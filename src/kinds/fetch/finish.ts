import { fetchTask } from "../../contract/tasks/fetch.ts"
import type { FetchResult } from "../../contract/tasks/fetch.ts"
import type { File } from "../../storage/schema/files.ts"
import type { Task } from "../../storage/schema/tasks.ts"
import type { DoneTasks, Finish } from "../kind.ts"
import { outputResult, storedFile } from "../outputs.ts"

type Made = FetchResult["media"]

/** The finish of a fetch: its media and the subtitles that there were. */
export function finishFetch({ files, tasks }: DoneTasks): Finish {
  const [done] = tasks
  if (!done) return { files: [], result: { outputs: [] } }
  const fetched = fetchTask.result.parse(done.result)
  const stored = nameApart([fetched.media, ...fetched.subtitles]).flatMap((made) => {
    const file = files.find(({ outputKey }) => outputKey === made.key)
    return file ? [{ made, file: { ...file, name: made.name } }] : []
  })
  const storedIds = new Set(stored.map(({ file }) => file.id))
  return {
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
