import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readdir, rename, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import type { YtdlpVersion } from "../../../src/contract/ytdlp-version.ts"
import { findUnsafeFolder } from "../../unsafe-folder.ts"
import { removeTree } from "../../sandbox/remove-tree.ts"

const run = promisify(execFile)

const INSTALL_MS_MAX = 600_000
const VERSION_MS_MAX = 30_000
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024
/** Prefix of the names of folders with unfinished installations. */
const UNFINISHED = "installing-"

const INSTALLED_VERSION = "from importlib.metadata import version; print(version('yt-dlp'))"

/**
 * Matches names of environment variables that are passed on to pip, such as variables for the
 * package index and certificates.
 */
const PIP_VARIABLE =
  /^(?:PATH|HOME|XDG_CONFIG_(?:HOME|DIRS)|PIP_.+|SSL_CERT_(?:FILE|DIR)|(?:https?|no|all)_proxy)$/i

/** Returns the environment variables that are passed on to pip. */
function pipEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => PIP_VARIABLE.test(name)))
}

export type YtdlpInstallOptions = {
  python: string
  /** Folder with a subfolder for each installed version. */
  root: string
  wanted: YtdlpVersion
  environment: NodeJS.ProcessEnv
  signal: AbortSignal
}

/**
 * Returns the version of yt-dlp that is installed in a Python environment, in the format of pip.
 * Throws if yt-dlp is not installed.
 */
export async function readInstalledYtdlpVersion(python: string): Promise<string> {
  const options = { timeout: VERSION_MS_MAX, env: {} }
  const { stdout } = await run(python, ["-I", "-c", INSTALLED_VERSION], options)
  return stdout.trim()
}

/**
 * Installs a version of yt-dlp into a subfolder of `root`, unless the version is already installed,
 * and removes other versions. Returns the subfolder, which must be the first package folder of
 * Python. The subfolder appears only when the installation is complete. Throws an Error with a
 * sentence about the failure of pip.
 */
export async function installYtdlp(of: YtdlpInstallOptions): Promise<string> {
  const { root, wanted } = of
  const name = `${wanted.version}-${wanted.sha256}`
  const folder = join(root, name)
  // Removes folders that another user can change, because the code in such folders must not run.
  if (findUnsafeFolder(join(folder, "yt_dlp")) !== null) await removeTree(root)
  await mkdir(root, { recursive: true })
  if (!(await exists(folder))) {
    const temporary = await mkdtemp(join(root, UNFINISHED))
    try {
      await runPip({ ...of, temporary })
      await rename(join(temporary, "packages"), folder)
    } catch (error) {
      // Ignores the error if another runner with the same folder has installed the version
      // meanwhile.
      if (!(await exists(folder))) throw error
    } finally {
      await removeTree(temporary)
    }
  }
  await removeOthers(root, name)
  return folder
}

async function runPip(of: YtdlpInstallOptions & { temporary: string }): Promise<void> {
  const { python, wanted, environment, signal, temporary } = of
  const requirements = join(temporary, "requirements.txt")
  await writeFile(requirements, `yt-dlp==${wanted.version} --hash=sha256:${wanted.sha256}\n`)
  const options = [
    ..."-I -m pip install --quiet --no-input --disable-pip-version-check".split(" "),
    ..."--no-cache-dir --no-deps --only-binary :all: --require-hashes --compile".split(" "),
    "--requirement",
    requirements,
    "--target",
    join(temporary, "packages"),
  ]
  try {
    await run(python, options, {
      cwd: temporary,
      env: { ...pipEnvironment(environment), TMPDIR: temporary },
      timeout: INSTALL_MS_MAX,
      killSignal: "SIGKILL",
      maxBuffer: OUTPUT_BYTES_MAX,
      signal,
    })
  } catch (error) {
    throw new Error(describeFailure(wanted.version, error), { cause: error })
  }
}

/** Describes a failure of pip in a sentence without a full stop. */
function describeFailure(version: string, error: unknown): string {
  const stderr = error instanceof Error && "stderr" in error ? String(error.stderr) : ""
  const what = `yt-dlp ${version} could not be installed`
  if (error instanceof Error && "code" in error && error.code === "ENOENT") {
    return `${what}: there is no Python at FETCH_PYTHON_PATH`
  }
  if (stderr.includes("DO NOT MATCH THE HASHES")) {
    return `${what}: its wheel does not have the SHA-256 of YTDLP_VERSION`
  }
  if (stderr.includes("No matching distribution")) {
    return `${what}: the package index has no such wheel, or does not respond`
  }
  if (stderr.includes("No module named pip")) return `${what}: the Python of yt-dlp has no pip`
  const lines = stderr.split("\n").filter((line) => line.startsWith("ERROR: "))
  const reason = lines.at(-1)?.slice("ERROR: ".length) ?? "pip failed or timed out"
  return `${what}: ${reason}`
}

/** Removes all versions of yt-dlp that were installed into a folder. */
export async function removeYtdlpVersions(root: string): Promise<void> {
  await removeTree(root).catch(() => undefined)
}

/** Removes other versions, and folders that killed installations left behind. */
async function removeOthers(root: string, kept: string): Promise<void> {
  for (const name of await readdir(root)) {
    const path = join(root, name)
    if (name === kept || (name.startsWith(UNFINISHED) && (await isYoung(path)))) continue
    await removeTree(path)
  }
}

/** Reports whether a folder is so recent that an installation may still be running in it. */
async function isYoung(path: string): Promise<boolean> {
  const facts = await stat(path).catch(() => null)
  return facts !== null && Date.now() - facts.mtimeMs < INSTALL_MS_MAX
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null
}
