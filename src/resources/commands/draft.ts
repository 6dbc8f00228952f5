import { settingsOf } from "../../env.ts"
import { publicOrigin } from "../../http/context.ts"
import type { AppContext } from "../../http/context.ts"
import { readCreateFacts } from "../../http/create-fields.ts"
import { unprocessables } from "../../http/problem.ts"
import { openDatabase } from "../../storage/database.ts"
import { findFiles } from "../../storage/files.ts"
import type { JobDraft } from "../../storage/jobs.ts"
import { withCode } from "./error-codes.ts"
import type { CommandRequest } from "./schema.ts"
import { draftOfCommand, readInputs } from "./tasks.ts"

/** The job that a request asks for; 422 with all that is wrong with it. Writes nothing. */
export async function makeDraft(c: AppContext, request: CommandRequest): Promise<JobDraft> {
  const facts = readCreateFacts(c, request)
  const { inputs, details } = readInputs(request.input_files, publicOrigin(c))
  const ids = inputs.map(({ fileId }) => fileId)
  const made = draftOfCommand(request, {
    ...facts,
    inputs,
    found: ids.length > 0 ? await findFiles(openDatabase(c.env.DB), facts.accountId, ids) : [],
    runSecondsMax: settingsOf(c.env).RUN_SECONDS_MAX,
  })
  const wrong = [...details, ...("details" in made ? made.details : [])]
  if (wrong.length > 0 || !("draft" in made))
    throw unprocessables(wrong.map((detail) => withCode(detail)))
  return made.draft
}
