import { z } from "zod"
import { substitute } from "../../contract/command-line.ts"
import { checkBody } from "../../http/body.ts"
import { publicOrigin } from "../../http/context.ts"
import type { AppContext } from "../../http/context.ts"
import { readIdempotencyKey } from "../../http/idempotency.ts"
import { Problem } from "../../http/problem.ts"
import type { Detail } from "../../http/problem.ts"
import { openDatabase } from "../../storage/database.ts"
import { findFiles } from "../../storage/files.ts"
import { makeDraft } from "./draft.ts"
import { withCode } from "./error-codes.ts"
import { linesOf, readLine } from "./lines.ts"
import { commandRequest } from "./schema.ts"
import { readInputs, workspaceNames } from "./tasks.ts"

const FILES_MAX = 64

/** The least that the body of POST /commands/validate must be. */
export const anyObject = z.record(z.string(), z.unknown(), "expected an object of fields")

const texts = z.record(z.string(), z.unknown()).catch({}).transform(onlyTexts)

/** A request of which only what can be used is taken. */
const roughRequest = z.object({
  ffmpeg_command: z.string().optional().catch(undefined),
  ffmpeg_commands: z.array(z.string().catch("")).catch([]),
  input_files: texts,
  output_files: texts,
})

/** What POST /commands would do with a body: the commands as they would run, and each error. */
export async function validateCommand(c: AppContext, body: Record<string, unknown>) {
  const details = await detailsOf(c, body)
  return {
    valid: details.length === 0,
    commands: await readArguments(c, body),
    errors: details.map((detail) => withCode(detail)),
  }
}

async function detailsOf(c: AppContext, body: Record<string, unknown>): Promise<Detail[]> {
  const checked = checkBody(commandRequest, body)
  if ("details" in checked) return checked.details
  try {
    readIdempotencyKey(c)
    await makeDraft(c, checked.data)
    return []
  } catch (error) {
    if (error instanceof Problem && error.code === "unprocessable") return error.facts.details ?? []
    throw error
  }
}

/** Each command with the program's name and with names in the place of keys; `[]` if unreadable. */
async function readArguments(c: AppContext, body: Record<string, unknown>): Promise<string[][]> {
  const rough = roughRequest.parse(body)
  const names = new Map([
    ...workspaceNames(rough.input_files, await fileNames(c, rough.input_files)),
    ...Object.entries(rough.output_files),
  ])
  return linesOf(rough.ffmpeg_command, rough.ffmpeg_commands).map((line) => {
    const read = readLine(line)
    return "words" in read ? ["ffmpeg", ...substitute(read.words, names)] : []
  })
}

/** The names of those inputs that are files of the account, by key. */
async function fileNames(c: AppContext, inputFiles: Record<string, string>) {
  const inputs = readInputs(inputFiles, publicOrigin(c)).inputs.slice(0, FILES_MAX)
  const ids = inputs.map(({ fileId }) => fileId)
  const found =
    ids.length > 0 ? await findFiles(openDatabase(c.env.DB), c.get("account").id, ids) : []
  const nameOf = new Map(found.map(({ id, name }) => [id, name]))
  return new Map(inputs.map(({ key, fileId }) => [key, nameOf.get(fileId) ?? ""]))
}

function onlyTexts(map: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(map).flatMap(([key, value]) =>
      typeof value === "string" ? [[key, value] as const] : [],
    ),
  )
}
