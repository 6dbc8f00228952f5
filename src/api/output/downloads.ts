import { z } from "zod"
import { getSettings } from "../../bindings/env.ts"
import { EXAMPLE_ID } from "../../platform/ids.ts"
import { makeDownloadToken, findDownloadLinkTarget } from "../../objects/download-links.ts"
import type { File } from "../../db/schema/files.ts"
import type { Job } from "../../db/schema/jobs.ts"
import { isFinalState } from "../../domain/states.ts"
import { notFoundProblem, Problem, invalidFieldProblem } from "./problem.ts"
import { getPublicOrigin } from "../input/request.ts"
import type { AppContext } from "../context.ts"

/** Query, response and example of all download operations, which redirect to a signed link. */
export const DOWNLOAD_OPERATION_DEFAULTS = {
  query: z.object({
    disposition: z
      .enum(["attachment", "inline"], "expected attachment or inline")
      .default("attachment")
      .meta({
        description: "`inline` lets a browser show the file; otherwise the browser saves it.",
      }),
    expires_in: z
      .string()
      .regex(/^[1-9]\d{0,9}$/, "expected a whole number of seconds above 0")
      .transform(Number)
      .optional()
      .meta({
        override: { type: "integer", minimum: 1 },
        description:
          "Life of the link in seconds, at most the plan's link_seconds. The default is a few minutes plus the play time of the media.",
      }),
  }),
  answer: {
    status: 302 as const,
    description:
      "A redirect to the signed link, which lives a few minutes or as long as `expires_in`.",
    schema: null,
    headers: { Location: "The signed link." },
  },
  example: { id: EXAMPLE_ID, name: "clip.mp4" },
}

/** Maximum playing time in seconds by which the default lifetime of a download link is extended. */
const PLAY_SECONDS_MAX = 24 * 3600

type LinkTarget = {
  file: File
  /**
   * Name of the stored file, or of a file in a bundle (playlist with segments, or image series).
   */
  name: string
  /**
   * Playing time of the file in seconds; undefined for a file without playing time. A link to a
   * long file is valid longer, because players request data while they play.
   */
  durationSeconds: number | undefined
  query: z.output<typeof DOWNLOAD_OPERATION_DEFAULTS.query>
}

/**
 * Returns the error for a download without a stored file: 409 if the job has not ended, 404 if the
 * job failed. `reason` is quoted if the job has no error message.
 */
export function unavailableDownloadProblem(
  { state, errorCode, errorMessage }: Pick<Job, "state" | "errorCode" | "errorMessage">,
  messages: { pending: string; failed: string; reason: string },
): Problem {
  if (!isFinalState(state)) return new Problem("not_final", messages.pending)
  const why = `${errorCode ?? "internal"}: ${errorMessage ?? messages.reason}`
  return new Problem("not_found", `${messages.failed}: ${why}`)
}

/** Redirects to a signed download link of a stored file, or of a file in a bundle. */
export async function redirectToDownload(c: AppContext, target: LinkTarget): Promise<Response> {
  const { file, name, query } = target
  const { LATHE_SECRET } = getSettings(c.env)
  const linkTarget = await findDownloadLinkTarget(file, name)
  if (!linkTarget) throw notFoundProblem("file")
  const token = await makeDownloadToken(LATHE_SECRET, {
    opens: linkTarget,
    expiresAt: Date.now() + chooseLinkSeconds(c, target) * 1000,
    disposition: query.disposition,
  })
  const link = `${getPublicOrigin(c)}/media/${token}/${encodeURIComponent(name)}`
  return c.body(null, 302, { location: link, "cache-control": "no-store" })
}

/**
 * Returns the lifetime of a download link in seconds; throws 422 if the requested lifetime exceeds
 * the plan's limit.
 */
function chooseLinkSeconds(c: AppContext, { query, durationSeconds = 0 }: LinkTarget): number {
  const { expires_in: seconds } = query
  if (seconds === undefined) {
    const playSeconds = Math.min(Math.ceil(Math.max(0, durationSeconds)), PLAY_SECONDS_MAX)
    return getSettings(c.env).LINK_SECONDS + playSeconds
  }
  const { linkSecondsMax } = c.get("limits")
  if (seconds <= linkSecondsMax) return seconds
  const message = `expected at most ${linkSecondsMax}, the link_seconds of the account's plan`
  throw invalidFieldProblem("expires_in", message)
}
