import { execFile } from "node:child_process"
import { promisify } from "node:util"

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/** Runs a program to its end, whose words are English, and returns its stdout; throws where it fails. */
export async function run(program: string, words: string[], cwd?: string): Promise<string> {
  const env = { ...process.env, LC_ALL: "C" }
  const options = { env, maxBuffer: OUTPUT_BYTES_MAX, ...(cwd !== undefined && { cwd }) }
  return (await promisify(execFile)(program, words, options)).stdout
}
