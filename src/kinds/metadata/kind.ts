import { metadataTaskDefinition, videoMetadataSchema } from "../../contract/tasks/metadata.ts"
import type { Kind } from "../kind.ts"

/** Schema of the video metadata of a web page in responses. */
export const metadataRecordSchema = videoMetadataSchema.meta({ id: "VideoMetadata" })

/**
 * Kind of job that reads the video metadata of a web page. Callers get only the metadata, never the
 * job.
 */
export const metadataKind = {
  name: "metadata",
  path: "fetch/metadata",
  title: "lookup",
  isUnlisted: true,
  tasks: [metadataTaskDefinition],
  inputField: (key) => key,
  finish({ tasks }) {
    const [found] = tasks.map(({ result }) => metadataTaskDefinition.result.parse(result).metadata)
    return { files: [], result: { outputs: [], ...(found && { metadata: found }) } }
  },
  record: metadataRecordSchema,
  view(_, { job }) {
    const found = job.result?.metadata
    if (!found) throw new Error(`the lookup ${job.id} found nothing`)
    return found
  },
} as const satisfies Kind<typeof metadataRecordSchema>
