import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { readFile, readdir, realpath, rm, stat, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { CliError } from "../local/cli-error.ts"
import { aptInstall, canAptInstall } from "./apt.ts"
import type { SetupStep } from "./step.ts"

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024
const run = promisify(execFile)

/** The folder of the project's virtual environment of this name. */
export function environmentFolder(name: string): string {
  return resolve("node_modules/.cache", name)
}

/**
 * A virtual environment of the project's own, with the packages of `requirements/<name>.txt` and
 * compiled code of all of them. It is made again when the file changes, or where `proof` no longer
 * runs, which is tried when Python or the folder of the packages has changed.
 */
export function pythonEnvironment({
  name,
  label = name,
  neededFor,
  proof,
}: {
  name: string
  /** What it is called after "Installing". */
  label?: string
  /** Begins the advice: what needs Python. */
  neededFor: string
  /** A program below the environment's `bin` and its words, which must succeed. */
  proof: readonly [program: string, ...words: string[]]
}): SetupStep {
  const folder = environmentFolder(name)
  const requirements = `requirements/${name}.txt`
  const stamp = join(folder, "stamp")
  const proven = join(folder, "proven")
  return {
    name: label,
    advice:
      `${neededFor} Python 3.11 or newer with its venv module: install ` +
      "them, for example with `sudo apt-get install python3-venv`, and run this again.",

    async isDone() {
      const stamped = await readFile(stamp, "utf8").catch(() => "")
      if (stamped !== (await hashOf(requirements))) return false
      // What has not changed since the proof ran needs none: it takes longer than all else here.
      const state = await stateOf(folder)
      if (state === (await readFile(proven, "utf8").catch(() => ""))) return true
      const [program, ...words] = proof
      if (!(await succeeds(join(folder, "bin", program), ...words))) return false
      await writeFile(proven, state).catch(() => undefined)
      return true
    },

    async canMake() {
      return (await hasVenv()) || (await canAptInstall())
    },

    async make() {
      if (!(await hasVenv())) await aptInstall("python3", "python3-venv")
      const pip = ["-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
      try {
        // A folder that is a link to another is not emptied through it.
        await rm(folder, { recursive: true, force: true })
        await run("python3", ["-m", "venv", folder])
        await run(
          join(folder, "bin", "python"),
          [...pip, "--quiet", "--compile", "--require-hashes", "--requirement", requirements],
          { maxBuffer: OUTPUT_BYTES_MAX },
        )
      } catch (error) {
        throw new CliError(`${label} could not be installed: ${String(error)}`, { cause: error })
      }
      await writeFile(stamp, await hashOf(requirements))
    },
  }
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

/** What a virtual environment is like: the Python that it leads to, and which packages are there. */
async function stateOf(folder: string): Promise<string> {
  const lib = join(folder, "lib")
  const versions = await readdir(lib).catch(() => [])
  const packages = versions.map((version) => join(lib, version, "site-packages"))
  const paths = [join(folder, "bin", "python"), ...packages.toSorted()]
  const facts = await Promise.all(
    paths.map(async (path) => {
      const real = await realpath(path).catch(() => path)
      const stats = await stat(real).catch(() => null)
      return `${real} ${stats?.size} ${stats?.mtimeMs}\n`
    }),
  )
  return facts.join("")
}

async function hashOf(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex")
}
