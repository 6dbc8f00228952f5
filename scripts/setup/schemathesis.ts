import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { readFile, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { CliError } from "../local/cli-error.ts"
import { aptInstall, canAptInstall } from "./apt.ts"
import type { SetupStep } from "./step.ts"

const REQUIREMENTS = "requirements/schemathesis.txt"
const FOLDER = resolve("node_modules/.cache/schemathesis")
const STAMP = join(FOLDER, "stamp")
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024
const run = promisify(execFile)

/** Path of the program, once the step is done. */
export const SCHEMATHESIS_PATH = join(FOLDER, "bin", "schemathesis")

/** schemathesis, which tests alone use, in a virtual environment of the project's own. */
export const schemathesis: SetupStep = {
  name: "schemathesis",
  advice:
    "The tests of the API's description need Python 3.11 or newer with its venv module: install " +
    "them, for example with `sudo apt-get install python3-venv`, and run this again.",

  async isDone() {
    const stamp = await readFile(STAMP, "utf8").catch(() => "")
    if (stamp !== (await hashRequirements())) return false
    return await succeeds(SCHEMATHESIS_PATH, "--version")
  },

  async canMake() {
    return (await hasVenv()) || (await canAptInstall())
  },

  async make() {
    if (!(await hasVenv())) await aptInstall("python3", "python3-venv")
    const pip = ["-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    try {
      await run("python3", ["-m", "venv", "--clear", FOLDER])
      await run(
        join(FOLDER, "bin", "python"),
        [...pip, "--quiet", "--require-hashes", "--requirement", REQUIREMENTS],
        { maxBuffer: OUTPUT_BYTES_MAX },
      )
    } catch (error) {
      throw new CliError(`schemathesis could not be installed: ${String(error)}`, { cause: error })
    }
    await writeFile(STAMP, await hashRequirements())
  },
}

/** Debian has Python without ensurepip, which its package python3-venv adds. */
async function hasVenv(): Promise<boolean> {
  const isUsable = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))"
  return await succeeds("python3", "-c", isUsable)
}

async function succeeds(program: string, ...words: string[]): Promise<boolean> {
  try {
    await run(program, words)
    return true
  } catch {
    return false
  }
}

async function hashRequirements(): Promise<string> {
  return createHash("sha256")
    .update(await readFile(REQUIREMENTS))
    .digest("hex")
}
