import { existsSync, readdirSync, realpathSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { speechModelName } from "../../../src/contract/speech-models.ts"
import type { RunnerSettings } from "../../settings.ts"
import { isolatedPythonArgv, findPythonPackageFolders } from "../python-packages.ts"

/** Folder of the Python driver of faster-whisper. */
const DRIVER_FOLDER = join(import.meta.dirname, "driver")

/** Name of a file that the folder of every speech model contains. */
const MODEL_FILE = "model.bin"

/**
 * Installation of faster-whisper: the Python executable, the package folders, and the paths that
 * Python may read in the sandbox.
 */
export type WhisperInstallation = {
  /** Path of the Python executable itself, to which the link in the virtual environment leads. */
  python: string
  /** Package folders in which Python searches for modules. */
  packages: string[]
  /** Paths that Python may read in the sandbox, without the paths of the model. */
  read: string[]
}

/** Finds the installation of faster-whisper. Returns null if there is none. */
export function findWhisperInstallation({
  toolPaths,
}: Pick<RunnerSettings, "toolPaths">): WhisperInstallation | null {
  const link = resolve(toolPaths.whisper)
  if (!existsSync(link)) return null
  const packages = findPythonPackageFolders(link).filter((folder) =>
    existsSync(join(folder, "faster_whisper")),
  )
  if (packages.length === 0) return null
  const python = realpathSync(link)
  const read = [DRIVER_FOLDER, join(dirname(dirname(python)), "lib"), ...packages]
  return { python, packages, read: read.filter((path) => existsSync(path)) }
}

/** Returns the arguments with which Python runs a program of the driver. */
export function whisperDriverArgv(program: string): string[] {
  return isolatedPythonArgv(DRIVER_FOLDER, program)
}

/**
 * Returns the folder of a speech model; null if the model is not installed or not named in the
 * settings.
 */
export function findSpeechModelFolder(
  { speech }: Pick<RunnerSettings, "speech">,
  name: string,
): string | null {
  const { defaultModel, modelsPath, models } = speech
  if (!models.names.includes(name)) return null
  const isFolder = defaultModel.includes("/") && speechModelName(defaultModel) === name
  const folder = resolve(isFolder ? defaultModel : join(modelsPath, name))
  return existsSync(join(folder, MODEL_FILE)) ? folder : null
}

/**
 * Returns the paths that a speech worker must be able to read for a model: the model's folder, and
 * the targets of links in that folder.
 */
export function listModelReadPaths(folder: string): string[] {
  const files = readdirSync(folder).map((name) => join(folder, name))
  return [...new Set([folder, realpathSync(folder), ...files.flatMap(linkTarget)])]
}

/**
 * Returns a list with the target of a link that leads to another folder, and an empty list for
 * other files. Clients of the Hugging Face hub create model folders with such links.
 */
function linkTarget(path: string): string[] {
  const target = existsSync(path) ? realpathSync(path) : path
  return dirname(target) === dirname(path) ? [] : [target]
}
