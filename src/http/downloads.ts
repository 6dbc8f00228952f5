import { z } from "zod"
import { settingsOf } from "../env.ts"
import { EXAMPLE_ID } from "../ids.ts"
import { makeLinkToken, openedOf } from "../storage/links.ts"
import type { Disposition } from "../storage/links.ts"
import type { File } from "../storage/schema/files.ts"
import type { Job } from "../storage/schema/jobs.ts"
import { isFinal } from "../storage/schema/states.ts"
import { notFound, Problem, unprocessable } from "./problem.ts"
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
    expires_in: z
      .string()
      .regex(/^[1-9]\d{0,9}$/, "expected a whole number of seconds above 0")
      .transform(Number)
      .optional()
      .meta({
        override: { type: "integer", minimum: 1 },
        description:
          "How many seconds the link is good for, at most the plan's link_seconds; without it some minutes, and as long as what it opens plays.",
      }),
  }),
  answer: {
    status: 302 as const,
    description: "The link, which is good for some minutes, or as long as was asked for.",
    schema: null,
    headers: { Location: "The signed link." },
  },
  example: { id: EXAMPLE_ID, name: "clip.mp4" },
}

/** How long a link lives by itself of what plays longer, or says so. */
const PLAY_SECONDS_MAX = 24 * 3600

type Linked = {
  file: File
  /** That of the file, or of a member of it. */
  name: string
  /** Of what plays, or of what a playlist names: for so long a player goes on asking. */
  durationSeconds: number | undefined
  asked: z.output<typeof DOWNLOAD.query>
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
  const { file, name, asked } = linked
  const { LATHE_SECRET } = settingsOf(c.env)
  const opens = await openedOf(file)
  if (!opens) throw notFound("file")
  const token = await makeLinkToken(LATHE_SECRET, {
    opens,
    expiresAt: Date.now() + linkSeconds(c, linked) * 1000,
    disposition: asked.disposition,
  })
  const link = `${publicOrigin(c)}/media/${token}/${encodeURIComponent(name)}`
  return c.body(null, 302, { location: link, "cache-control": "no-store" })
}

/** How long a link lives, in seconds; 422 where its caller asks for more than the plan allows. */
function linkSeconds(c: AppContext, { asked, durationSeconds = 0 }: Linked): number {
  const { expires_in: wanted } = asked
  if (wanted === undefined) {
    const playSeconds = Math.min(Math.ceil(Math.max(0, durationSeconds)), PLAY_SECONDS_MAX)
    return settingsOf(c.env).LINK_SECONDS + playSeconds
  }
  const { linkSecondsMax } = c.get("limits")
  if (wanted <= linkSecondsMax) return wanted
  const message = `expected at most ${linkSecondsMax}, the link_seconds of the account's plan`
  throw unprocessable("expires_in", message)
}
