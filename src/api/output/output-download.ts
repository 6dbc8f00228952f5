import { getRetention } from "../../bindings/env.ts"
import type { Kind } from "../../kinds/kind.ts"
import type { RetentionSettings } from "../../domain/retention.ts"
import { findJobWithFiles } from "../../db/files/files.ts"
import type { Job } from "../../db/schema/jobs.ts"
import { readPathResourceId } from "./collection.ts"
import {
  unavailableDownloadProblem,
  redirectToDownload,
  DOWNLOAD_OPERATION_DEFAULTS,
} from "./downloads.ts"
import { defineOperation } from "./operation.ts"
import type { Operation } from "./operation.ts"
import { notFoundProblem, Problem } from "./problem.ts"
import { getBaseUrl } from "../input/request.ts"

/** Properties of a download operation for job outputs that are not stored as Files. */
type OutputDownload = {
  operationId: string
  summary: string
  /** Example of the file name of an output, for the OpenAPI document. */
  exampleName: string
  /** Error messages for a job that is open or failed; see `unavailableDownloadProblem`. */
  unavailableMessages: { pending: string; failed: string; reason: string }
  /**
   * Function that reports whether the outputs of a job have expired, and the error message for
   * expired outputs. Undefined if outputs never expire.
   */
  expiry?: { isExpired: (job: Job, retention: RetentionSettings) => boolean; message: string }
}

/** Defines `GET /<path>/{id}/{name}`, which redirects to a job output that is not a File. */
export function makeOutputDownloadOperation(
  {
    name: kindName,
    path,
    title,
    outputUrl,
  }: Pick<Kind, "name" | "path" | "title"> & Required<Pick<Kind, "outputUrl">>,
  { operationId, summary, exampleName, unavailableMessages, expiry }: OutputDownload,
): Operation {
  return defineOperation({
    ...DOWNLOAD_OPERATION_DEFAULTS,
    method: "get",
    path: `/${path}/{id}/{name}`,
    operationId,
    summary,
    tag: path,
    errors: ["not_found", "not_final", ...(expiry ? ["link_expired" as const] : [])],
    example: { ...DOWNLOAD_OPERATION_DEFAULTS.example, name: exampleName },
    async handle(c, query) {
      const name = c.req.param("name") ?? ""
      const { job, files } = await findJobWithFiles(
        c.get("database"),
        readPathResourceId(c, title),
        name,
      )
      if (job?.kind !== kindName) throw notFoundProblem(title)
      if (job.state !== "succeeded") throw unavailableDownloadProblem(job, unavailableMessages)
      const match = job.result?.outputs.find(
        (output) => output.name === name && outputUrl(getBaseUrl(c), job.id, output) !== null,
      )
      if (!match) throw notFoundProblem("file")
      if (expiry?.isExpired(job, getRetention(c.env))) {
        throw new Problem("link_expired", expiry.message)
      }
      const file = files.find(({ id }) => id === match.fileId)
      if (!file) throw notFoundProblem("file")
      return await redirectToDownload(c, {
        file,
        name,
        query,
        durationSeconds: match.durationSeconds,
      })
    },
  })
}
