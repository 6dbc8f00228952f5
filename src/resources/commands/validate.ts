import { substitute } from "../../contract/command-line.ts"
import type { AppContext } from "../../http/context.ts"
import { idempotencyKeyFaults } from "../../http/idempotency.ts"
import { codeOf } from "../../http/problem.ts"
import { judgeBody, readRoughly } from "./draft.ts"
import { linesOf, readLine } from "./lines.ts"
import { fileNamesByKey, workspaceNames } from "./tasks.ts"
import type { CommandInputs } from "./tasks.ts"

/** What POST /commands would do with a body: the commands as they would run, and each error. */
export async function validateCommand(c: AppContext, body: Record<string, unknown>) {
  const { details, ...named } = await judgeBody(c, body)
  const errors = [...idempotencyKeyFaults(c), ...details].map(codeOf)
  return { valid: errors.length === 0, commands: readArguments(body, named), errors }
}

/** Each command with the program's name and with names in the place of keys; `[]` if unreadable. */
function readArguments(body: Record<string, unknown>, named: CommandInputs): string[][] {
  const rough = readRoughly(body)
  const names = new Map([
    ...workspaceNames(rough.input_files, fileNamesByKey(named)),
    ...Object.entries(rough.output_files),
  ])
  return linesOf(rough.ffmpeg_command, rough.ffmpeg_commands ?? []).map((line) => {
    const read = readLine(line)
    return "words" in read ? ["ffmpeg", ...substitute(read.words, names)] : []
  })
}
