import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { readFile, readdir, realpath, rm, stat, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { CliError } from "../cli/cli-error.ts"
import { installAptPackages, canInstallAptPackages } from "./apt.ts"
import type { SetupStep } from "./step.ts"

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024
const run = promisify(execFile)

/** Returns the folder of the project's Python virtual environment with this name. */
export function findPythonEnvironmentFolder(name: string): string {
  return resolve("node_modules/.cache", name)
}

/**
 * Returns the set-up step of a Python virtual environment with the packages of
 * `requirements/<name>.txt`. The step is repeated if that file changes or `proof` fails. `proof`
 * runs only after Python or the packages have changed.
 */
export function makePythonEnvironmentStep({
  name,
  label = name,
  neededFor,
  proof,
}: {
  name: string
  /** Name of the packages in the progress message "Installing …". */
  label?: string
  /** Beginning of the advice, which names the part of Lathe that needs Python. */
  neededFor: string
  /**
   * Program in the environment's `bin` with arguments, which tests the packages. The step is done
   * only if the program succeeds.
   */
  proof: readonly [program: string, ...words: string[]]
}): SetupStep {
  const folder = findPythonEnvironmentFolder(name)
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
      // Skips `proof`, which is slow, if the environment is unchanged since `proof` last succeeded.
      const state = await stateOf(folder)
      if (state === (await readFile(proven, "utf8").catch(() => ""))) return true
      const [program, ...words] = proof
      if (!(await succeeds(join(folder, "bin", program), ...words))) return false
      await writeFile(proven, state).catch(() => undefined)
      return true
    },

    async canMake() {
      return (await hasVenv()) || (await canInstallAptPackages())
    },

    async make() {
      if (!(await hasVenv())) await installAptPackages("python3", "python3-venv")
      const pip = ["-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
      try {
        // Removes a folder, or only the link if the path is a symbolic link: the folder to which
        // the link leads keeps its content.
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

/**
 * Reports whether Python 3.11 or newer can make virtual environments. On Debian, virtual
 * environments need the package python3-venv.
 */
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

/**
 * Returns a text that changes with a virtual environment: paths, sizes and times of its Python and
 * its packages folder.
 */
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
