import { substitute } from "../../contract/command-line.ts"
import { publicOrigin } from "../../http/context.ts"
import type { AppContext } from "../../http/context.ts"
import { idempotencyKeyFaults } from "../../http/idempotency.ts"
import { codeOf } from "../../http/problem.ts"
import { openDatabase } from "../../storage/database.ts"
import { findFiles } from "../../storage/files.ts"
import { faultsOf, readRoughly } from "./draft.ts"
import { linesOf, readLine } from "./lines.ts"
import { readInputs, workspaceNames } from "./tasks.ts"

/** What POST /commands would do with a body: the commands as they would run, and each error. */
export async function validateCommand(c: AppContext, body: Record<string, unknown>) {
  const errors = [...idempotencyKeyFaults(c).map(codeOf), ...(await faultsOf(c, body))]
  return { valid: errors.length === 0, commands: await readArguments(c, body), errors }
}

/** Each command with the program's name and with names in the place of keys; `[]` if unreadable. */
async function readArguments(c: AppContext, body: Record<string, unknown>): Promise<string[][]> {
  const rough = readRoughly(body)
  const names = new Map([
    ...workspaceNames(rough.input_files, await fileNames(c, rough.input_files)),
    ...Object.entries(rough.output_files),
  ])
  return linesOf(rough.ffmpeg_command, rough.ffmpeg_commands ?? []).map((line) => {
    const read = readLine(line)
    return "words" in read ? ["ffmpeg", ...substitute(read.words, names)] : []
  })
}

/** The names of those inputs that are files of the account, by key. */
async function fileNames(c: AppContext, inputFiles: Record<string, string>) {
  const { inputs } = readInputs(inputFiles, publicOrigin(c))
  const ids = inputs.map(({ fileId }) => fileId)
  const found =
    ids.length > 0 ? await findFiles(openDatabase(c.env.DB), c.get("account").id, ids) : []
  const nameOf = new Map(found.map(({ id, name }) => [id, name]))
  return new Map(inputs.map(({ key, fileId }) => [key, nameOf.get(fileId) ?? ""]))
}
