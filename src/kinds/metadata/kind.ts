import { metadataTask, videoMetadata } from "../../contract/tasks/metadata.ts"
import type { Kind } from "../kind.ts"

/** What a page says of its video, as answers carry it. */
export const metadataRecord = videoMetadata.meta({ id: "VideoMetadata" })

/** A lookup of what a page says of its video. Callers wait for it, and know of no job. */
export const metadata = {
  name: "metadata",
  path: "fetch/metadata",
  title: "lookup",
  isUnlisted: true,
  tasks: [metadataTask],
  inputField: (key) => key,
  finish({ tasks }) {
    const [found] = tasks.map(({ result }) => metadataTask.result.parse(result).metadata)
    return { files: [], result: { outputs: [], ...(found && { metadata: found }) } }
  },
  record: metadataRecord,
  view(_, { job }) {
    const found = job.result?.metadata
    if (!found) throw new Error(`the lookup ${job.id} found nothing`)
    return found
  },
} as const satisfies Kind<typeof metadataRecord>
