import { retentionOf } from "../env.ts"
import type { Kind } from "../kinds/kind.ts"
import type { Retention } from "../retention.ts"
import { findJobWithFiles } from "../storage/files.ts"
import type { Job } from "../storage/schema/jobs.ts"
import { readId } from "./collection.ts"
import { absentProblem, answerLink, DOWNLOAD } from "./downloads.ts"
import { operation } from "./operation.ts"
import type { Operation } from "./operation.ts"
import { notFound, Problem } from "./problem.ts"
import { baseUrl } from "./request.ts"

/** What is said of outputs of a kind that are no Files. */
type OutputDownload = {
  operationId: string
  summary: string
  /** A name that an output may have. */
  exampleName: string
  /** What is answered of a job that is under way, and of one that failed, as `absentProblem` says. */
  absent: { pending: string; failed: string; reason: string }
  /** Which outputs are no longer kept, and what is said of them. */
  expiry?: { isExpired: (job: Job, retention: Retention) => boolean; message: string }
}

/** `GET /<path>/{id}/{name}`: a link to an output of a job, where that is no File. */
export function outputDownload(
  {
    name: kindName,
    path,
    title,
    outputUrl,
  }: Pick<Kind, "name" | "path" | "title"> & Required<Pick<Kind, "outputUrl">>,
  { operationId, summary, exampleName, absent, expiry }: OutputDownload,
): Operation {
  return operation({
    ...DOWNLOAD,
    method: "get",
    path: `/${path}/{id}/{name}`,
    operationId,
    summary,
    tag: path,
    errors: ["not_found", "not_final", ...(expiry ? ["link_expired" as const] : [])],
    example: { ...DOWNLOAD.example, name: exampleName },
    async handle(c, asked) {
      const name = c.req.param("name") ?? ""
      const { job, files } = await findJobWithFiles(c.get("database"), readId(c, title), name)
      if (job?.kind !== kindName) throw notFound(title)
      if (job.state !== "succeeded") throw absentProblem(job, absent)
      const made = job.result?.outputs.find(
        (output) => output.name === name && outputUrl(baseUrl(c), job.id, output) !== null,
      )
      if (!made) throw notFound("file")
      if (expiry?.isExpired(job, retentionOf(c.env))) {
        throw new Problem("link_expired", expiry.message)
      }
      const file = files.find(({ id }) => id === made.fileId)
      if (!file) throw notFound("file")
      return await answerLink(c, { file, name, asked, durationSeconds: made.durationSeconds })
    },
  })
}
