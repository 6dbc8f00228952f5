import type { AppContext } from "../../http/request.ts"
import { Problem } from "../../http/problem.ts"
import { readLog } from "../../storage/logs.ts"
import type { Job } from "../../storage/schema/jobs.ts"
import { isFinal } from "../../storage/schema/states.ts"

const LOG_TYPE = "text/plain; charset=utf-8"

/** Answers what the tools of a job said last; a problem where nothing of it is kept. */
export async function answerLog(c: AppContext, { id, state, result }: Job): Promise<Response> {
  const log = result?.hasLog ? await readLog(c.env.MEDIA, c.get("database"), id) : null
  if (log === null) throw new Problem("no_log", isFinal(state) ? NOTHING : NOT_YET)
  return c.body(log, 200, { "content-type": LOG_TYPE, "cache-control": "private, no-store" })
}

const NOT_YET = "The job is not over: what ffmpeg says of it is kept at its end."
const NOTHING =
  "Nothing is kept of what ffmpeg said: POST /v1/commands and POST /v1/ffmpeg keep it of a command that ran to its end, well or not."
