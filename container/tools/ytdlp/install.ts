import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readdir, rename, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import type { YtdlpVersion } from "../../../src/contract/ytdlp-version.ts"
import { findFolderChanger } from "../../folder-changer.ts"
import { removeTree } from "../../sandbox/remove-tree.ts"

const run = promisify(execFile)

const INSTALL_MS_MAX = 600_000
const VERSION_MS_MAX = 30_000
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024
/** Names of folders that no installation uses yet, or any longer. */
const UNFINISHED = "installing-"

const INSTALLED_VERSION = "from importlib.metadata import version; print(version('yt-dlp'))"

/** Variables that say where pip takes packages from, and what it trusts; it gets no other ones. */
const PIP_VARIABLE =
  /^(?:PATH|HOME|XDG_CONFIG_(?:HOME|DIRS)|PIP_.+|SSL_CERT_(?:FILE|DIR)|(?:https?|no|all)_proxy)$/i

/** Those of an environment that pip is started with. */
function pipEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => PIP_VARIABLE.test(name)))
}

export type InstallOptions = {
  python: string
  /** The folder that has a folder for each version. */
  root: string
  wanted: YtdlpVersion
  environment: NodeJS.ProcessEnv
  signal: AbortSignal
}

/** The version of yt-dlp that a Python has, as pip writes it; throws where it has none. */
export async function readInstalledVersion(python: string): Promise<string> {
  const options = { timeout: VERSION_MS_MAX, env: {} }
  const { stdout } = await run(python, ["-I", "-c", INSTALLED_VERSION], options)
  return stdout.trim()
}

/**
 * Installs the wheel of a version below `root`, where it is not there yet, and returns its folder,
 * which Python is to look into first. Other versions are removed. A folder has its name only once it
 * is whole. Throws an error that says in a sentence what pip said.
 */
export async function installYtdlp(of: InstallOptions): Promise<string> {
  const { root, wanted } = of
  const name = `${wanted.version}-${wanted.sha256}`
  const folder = join(root, name)
  // Code that another user could have written is not run.
  if (findFolderChanger(join(folder, "yt_dlp")) !== null) await removeTree(root)
  await mkdir(root, { recursive: true })
  if (!(await isThere(folder))) {
    const temporary = await mkdtemp(join(root, UNFINISHED))
    try {
      await runPip({ ...of, temporary })
      await rename(join(temporary, "packages"), folder)
    } catch (error) {
      // Another runner with the same folder may have been quicker.
      if (!(await isThere(folder))) throw error
    } finally {
      await removeTree(temporary)
    }
  }
  await removeOthers(root, name)
  return folder
}

async function runPip(of: InstallOptions & { temporary: string }): Promise<void> {
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

/** What pip said, as a sentence. */
function describeFailure(version: string, error: unknown): string {
  const stderr = error instanceof Error && "stderr" in error ? String(error.stderr) : ""
  const what = `yt-dlp ${version} could not be installed`
  if (error instanceof Error && "code" in error && error.code === "ENOENT") {
    return `${what}: there is no Python at FETCH_PYTHON_PATH`
  }
  if (stderr.includes("DO NOT MATCH THE HASHES")) {
    return `${what}: its wheel does not have the SHA-256 that YTDLP_VERSION says`
  }
  if (stderr.includes("No matching distribution")) {
    return `${what}: the package index has no such wheel, or does not answer`
  }
  if (stderr.includes("No module named pip")) return `${what}: the Python of yt-dlp has no pip`
  const lines = stderr.split("\n").filter((line) => line.startsWith("ERROR: "))
  const said = lines.at(-1)?.slice("ERROR: ".length) ?? "pip did not end well, or in time"
  return `${what}: ${said}`
}

/** Removes every version. */
export async function removeYtdlp(root: string): Promise<void> {
  await removeTree(root).catch(() => undefined)
}

/** Removes other versions, and what an installation that was killed has left. */
async function removeOthers(root: string, kept: string): Promise<void> {
  for (const name of await readdir(root)) {
    const path = join(root, name)
    if (name === kept || (name.startsWith(UNFINISHED) && (await isYoung(path)))) continue
    await removeTree(path)
  }
}

/** Whether an installation may be under way in a folder. */
async function isYoung(path: string): Promise<boolean> {
  const facts = await stat(path).catch(() => null)
  return facts !== null && Date.now() - facts.mtimeMs < INSTALL_MS_MAX
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null
}
