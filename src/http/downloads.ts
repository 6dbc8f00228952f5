import { z } from "zod"
import { settingsOf } from "../env.ts"
import { EXAMPLE_ID } from "../ids.ts"
import { makeLinkToken } from "../storage/links.ts"
import type { Disposition } from "../storage/links.ts"
import type { Job } from "../storage/schema/jobs.ts"
import { isFinal } from "../storage/schema/states.ts"
import { Problem } from "./problem.ts"
import { publicOrigin } from "./request.ts"
import type { AppContext } from "./request.ts"

/** What operations that answer a link to something stored have in common. */
export const DOWNLOAD = {
  query: z.object({
    disposition: z
      .string()
      .optional()
      .meta({
        description: "`inline` has a browser show the file; otherwise it is saved.",
      })
      .transform((text): Disposition => (text === "inline" ? "inline" : "attachment")),
  }),
  answer: {
    status: 302 as const,
    description: "The link, which is valid for some minutes.",
    schema: null,
    headers: { Location: "The signed link." },
  },
  example: { id: EXAMPLE_ID, name: "clip.mp4" },
}

type Linked = {
  fileId: string
  name: string
  disposition: Disposition
  /** How long a player goes on asking for what the file names. */
  playSeconds?: number
}

/**
 * What a download is answered with of something that is still to come, or failed to; `reason` stands
 * where none was kept.
 */
export function absentProblem(
  { state, errorCode, errorMessage }: Pick<Job, "state" | "errorCode" | "errorMessage">,
  say: { pending: string; failed: string; reason: string },
): Problem {
  if (!isFinal(state)) return new Problem("not_final", say.pending)
  const why = `${errorCode ?? "internal"}: ${errorMessage ?? say.reason}`
  return new Problem("not_found", `${say.failed}: ${why}`)
}

/** Redirects to a signed link to a stored file, or to a member of one. */
export async function answerLink(c: AppContext, linked: Linked): Promise<Response> {
  const { fileId, name, disposition, playSeconds = 0 } = linked
  const { LATHE_SECRET, LINK_SECONDS } = settingsOf(c.env)
  const token = await makeLinkToken(LATHE_SECRET, {
    accountId: c.get("account").id,
    fileId,
    expiresAt: Date.now() + (LINK_SECONDS + playSeconds) * 1000,
    disposition,
  })
  const link = `${publicOrigin(c)}/media/${token}/${encodeURIComponent(name)}`
  return c.body(null, 302, { location: link, "cache-control": "no-store" })
}
