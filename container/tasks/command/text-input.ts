import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs"
import type { TaskInput } from "../../../src/contract/task.ts"
import { buildWorkspacePath } from "../../sandbox/workspace.ts"

// eslint-disable-next-line no-control-regex -- text contains none of these control characters
const NO_TEXT = /[\u0000-\u0008\u000e-\u001f\u007f]/

/**
 * Reads a small input file as UTF-8 text, without a byte order mark. Must be called before the
 * first command runs, since a command could replace the file.
 */
export function readTextInput(
  workspace: string,
  { name }: Pick<TaskInput, "name">,
  bytesMax: number,
): { text: string } | { problem: "too large" | "no text" } {
  const file = openSync(
    buildWorkspacePath(workspace, name),
    constants.O_RDONLY | constants.O_NOFOLLOW,
  )
  try {
    if (fstatSync(file).size > bytesMax) return { problem: "too large" }
    const text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file))
    return NO_TEXT.test(text) ? { problem: "no text" } : { text }
  } catch (error) {
    if (error instanceof TypeError) return { problem: "no text" }
    throw error
  } finally {
    closeSync(file)
  }
}
