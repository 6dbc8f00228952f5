import { execFile } from "node:child_process"
import { promisify } from "node:util"

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/** Runs a program in the C locale and returns its stdout; throws if the program fails. */
export async function runInCLocale(
  program: string,
  words: string[],
  cwd?: string,
): Promise<string> {
  const env = { ...process.env, LC_ALL: "C" }
  const options = { env, maxBuffer: OUTPUT_BYTES_MAX, ...(cwd !== undefined && { cwd }) }
  return (await promisify(execFile)(program, words, options)).stdout
}
