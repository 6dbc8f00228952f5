import { chmodSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { TaskInput } from "../../../src/contract/task.ts"
import { quoteShortenedValue } from "../../../src/ffmpeg/policy/refusal.ts"
import { buildWorkspacePath } from "../../sandbox/workspace.ts"
import { readTextInput } from "./text-input.ts"

/**
 * Prefix of the names of HLS key info files that the runner writes. Commands cannot use names with
 * this prefix, so that no command can change such a file.
 */
export const HLS_KEY_INFO_FILE_PREFIX = ".key-info."

const INFO_BYTES_MAX = 8 * 1024
const KEY_BYTES = 16
const URL_LENGTH_MAX = 2000
/** Matches an https URL that needs no escapes inside the quotes of an HLS playlist. */
const KEY_URL = /^https:\/\/[\w.:[\]-]+(?:[/?#][\w!$%&'()*+,./:;=?@[\]~#-]*)?$/
const IV = /^[0-9a-f]{32}$/i

/**
 * Reads an input that is an HLS key info file: the URL of the key, the input that contains the key,
 * and an optional initialization vector. Writes these values to a new key info file for ffmpeg.
 * Returns the name of the new file, or the fault of the input as a sentence without a full stop
 * (`fault`).
 */
export function rewriteHlsKeyInfo(
  workspace: string,
  input: TaskInput,
  inputs: readonly TaskInput[],
): { name: string } | { fault: string } {
  const read = readTextInput(workspace, input, INFO_BYTES_MAX)
  if ("problem" in read) {
    return { fault: `${quoteShortenedValue(input.name)} is not key information; ${EXPECTED}` }
  }
  const lines = read.text.trim().split("\n")
  const [url = "", reference = "", iv = "", ...more] = lines.map((line) => line.trim())
  const keyInput = keyOf(reference, inputs)
  const fault = findLineFault({ url, iv, more }) ?? findKeyFault(workspace, keyInput, reference)
  if (fault !== null) return { fault: `${quoteShortenedValue(input.name)}, ${fault}` }
  const name = HLS_KEY_INFO_FILE_PREFIX + input.key
  const key = keyInput?.name ?? ""
  const path = join(workspace, name)
  rmSync(path, { force: true })
  writeFileSync(path, [url, key, iv].filter((line) => line !== "").join("\n"))
  chmodSync(path, 0o444)
  return { name }
}

const EXPECTED =
  "expected the key's https URL, the input with the key, as {{in_3}}, and on a third line its IV of 32 hexadecimal digits, which may be left out"

function findLineFault(lines: { url: string; iv: string; more: string[] }): string | null {
  const { url, iv, more } = lines
  if (more.length > 0) return `line 4: expected at most three lines; ${EXPECTED}`
  if (url.length > URL_LENGTH_MAX || !KEY_URL.test(url) || !URL.canParse(url)) {
    return `line 1: ${quoteShortenedValue(url)}: expected the https URL at which players get the key`
  }
  if (iv === "" || IV.test(iv)) return null
  return `line 3: ${quoteShortenedValue(iv)}: expected an IV of 32 hexadecimal digits, or no third line`
}

function findKeyFault(
  workspace: string,
  input: TaskInput | undefined,
  reference: string,
): string | null {
  if (!input) {
    return `line 2: ${quoteShortenedValue(reference)}: expected the input that holds the key, as {{in_3}}`
  }
  const { size } = statSync(buildWorkspacePath(workspace, input.name))
  if (size === KEY_BYTES) return null
  return `line 2: the key ${quoteShortenedValue(input.name)} has ${size} bytes; expected ${KEY_BYTES}`
}

/**
 * Returns the input that a line of an HLS key info file names. The whole line must be the input's
 * name in the request, such as `{{in_3}}` or `in_3`, or the input's file name.
 */
function keyOf(line: string, inputs: readonly TaskInput[]): TaskInput | undefined {
  return inputs.find(({ key, name }) => [`{{${key}}}`, key, name].includes(line))
}
