import { existsSync, readdirSync, realpathSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { speechModelName } from "../../../src/contract/speech-models.ts"
import type { RunnerSettings } from "../../settings.ts"
import { isolatedArgv, packageFolders } from "../python-packages.ts"

/** The driver, which the sandbox lets Python read. */
const DRIVER_FOLDER = join(import.meta.dirname, "driver")

/** The file without which a folder is no model. */
const MODEL_FILE = "model.bin"

/** What whisper runs with. */
export type WhisperEnvironment = {
  /** Python itself, to which that of a virtual environment is a link. */
  python: string
  /** Folders that Python looks into for packages. */
  packages: string[]
  /** What Python reads beside its model. */
  read: string[]
}

/** Where faster-whisper is; null: nowhere. */
export function findWhisper({
  toolPaths,
}: Pick<RunnerSettings, "toolPaths">): WhisperEnvironment | null {
  const link = resolve(toolPaths.whisper)
  if (!existsSync(link)) return null
  const packages = packageFolders(link).filter((folder) =>
    existsSync(join(folder, "faster_whisper")),
  )
  if (packages.length === 0) return null
  const python = realpathSync(link)
  const read = [DRIVER_FOLDER, join(dirname(dirname(python)), "lib"), ...packages]
  return { python, packages, read: read.filter((path) => existsSync(path)) }
}

/** The words that start a program of the driver. */
export function whisperArgv(program: string): string[] {
  return isolatedArgv(DRIVER_FOLDER, program)
}

/** The folder of a model that this deployment has; null where it is not there. */
export function findModel({ speech }: Pick<RunnerSettings, "speech">, name: string): string | null {
  const { defaultModel, modelsPath, models } = speech
  if (!models.names.includes(name)) return null
  const isFolder = defaultModel.includes("/") && speechModelName(defaultModel) === name
  const folder = resolve(isFolder ? defaultModel : join(modelsPath, name))
  return existsSync(join(folder, MODEL_FILE)) ? folder : null
}

/** What a worker reads of a model: the folder, and where links of it lead. */
export function modelPaths(folder: string): string[] {
  const files = readdirSync(folder).map((name) => join(folder, name))
  return [...new Set([folder, realpathSync(folder), ...files.flatMap(linkTarget)])]
}

/** A hub's folders have links to files elsewhere. */
function linkTarget(path: string): string[] {
  const target = existsSync(path) ? realpathSync(path) : path
  return dirname(target) === dirname(path) ? [] : [target]
}
