import { z } from "zod"
import { settingsOf } from "../../env.ts"
import { checkBody } from "../../http/body.ts"
import { publicOrigin } from "../../http/context.ts"
import type { AppContext } from "../../http/context.ts"
import { readCreateFacts, webhookFaults } from "../../http/create-fields.ts"
import { unprocessables } from "../../http/problem.ts"
import type { Detail } from "../../http/problem.ts"
import { openDatabase } from "../../storage/database.ts"
import { findFiles } from "../../storage/files.ts"
import type { JobDraft } from "../../storage/jobs.ts"
import { commandRequest } from "./schema.ts"
import type { CommandRequest } from "./schema.ts"
import { draftOfCommand, judgeCommand, readInputs } from "./tasks.ts"
import type { CommandInputs, CommandPart } from "./tasks.ts"

/** The least that the body of a command must be. */
export const anyObject = z.record(z.string(), z.unknown(), "expected an object of fields")

const texts = z.record(z.string(), z.unknown()).catch({}).transform(onlyTexts)

/** A request of which only what can be used is taken. */
const roughRequest = z.object({
  ffmpeg_command: z.string().optional().catch(undefined),
  ffmpeg_commands: z.array(z.string().catch("")).optional().catch(undefined),
  input_files: texts,
  output_files: texts,
  webhook: z.string().nullish().catch(null),
})

const INPUTS_MAX = 64

/** The request that a body is; 422 with all that is wrong with it. */
export async function readRequest(
  c: AppContext,
  body: Record<string, unknown>,
): Promise<CommandRequest> {
  const checked = checkBody(commandRequest, body)
  if ("data" in checked) return checked.data
  throw unprocessables((await judgeBody(c, body)).details)
}

/** The job that a request asks for; 422 with all that is wrong with it. Writes nothing. */
export async function makeDraft(c: AppContext, request: CommandRequest): Promise<JobDraft> {
  const { details, ...judged } = await judge(c, request)
  if (details.length > 0) throw unprocessables(details)
  const runSecondsMax = settingsOf(c.env).RUN_SECONDS_MAX
  return draftOfCommand(request, { ...readCreateFacts(c, request), ...judged, runSecondsMax })
}

/**
 * All that is wrong with a body, what it asks for included as far as that can be read, and the files
 * that it names.
 */
export async function judgeBody(
  c: AppContext,
  body: Record<string, unknown>,
): Promise<CommandInputs & { details: Detail[] }> {
  const checked = checkBody(commandRequest, body)
  if ("data" in checked) return await judge(c, checked.data)
  const malformed = checked.details
  const fields = new Set(malformed.map(({ field }) => fieldOf(field)))
  const areKeysKnown = !fields.has("input_files") && !fields.has("output_files")
  const judged = await judge(c, readRoughly(body))
  const others = judged.details.filter(
    ({ field, code }) =>
      !fields.has(fieldOf(field)) &&
      (areKeysKnown || (code !== "unknown_key" && code !== "unused_output")),
  )
  return { ...judged, details: [...malformed, ...others] }
}

/** What of a body can be used. */
export function readRoughly(body: Record<string, unknown>): z.output<typeof roughRequest> {
  const rough = roughRequest.parse(body)
  const inputs = Object.entries(rough.input_files).slice(0, INPUTS_MAX)
  return { ...rough, input_files: Object.fromEntries(inputs) }
}

type Judged = CommandPart & { webhook?: string | null | undefined }

async function judge(c: AppContext, request: Judged) {
  const { inputs, details: references } = readInputs(request.input_files, publicOrigin(c))
  const ids = inputs.map(({ fileId }) => fileId)
  const database = openDatabase(c.env.DB)
  const found = ids.length > 0 ? await findFiles(database, c.get("account").id, ids) : []
  const { commands, details } = judgeCommand(request, { inputs, found })
  const webhook =
    typeof request.webhook === "string" ? webhookFaults(c, "webhook", request.webhook) : []
  return { inputs, found, commands, details: [...webhook, ...references, ...details] }
}

function fieldOf(place: string): string {
  return place.split(".", 1)[0] ?? ""
}

function onlyTexts(map: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(map).flatMap(([key, value]) =>
      typeof value === "string" ? [[key, value] as const] : [],
    ),
  )
}
