import manifest from "./manifest.json" with { type: "json" }

/**
 * File of a speech model, with its size and hash. `parts` lists the files in Python packages that
 * are concatenated to the model file, in order.
 */
export type SpeechModelFile = { bytes: number; sha256: string; parts: readonly string[] }

/**
 * Python package that contains files of a speech model. `sha256` is the hash of the package's
 * wheel.
 */
export type SpeechModelPythonPackage = { name: string; version: string; sha256: string }

/** Files of a speech model, and the sources from which the files can be downloaded. */
export type SpeechModelManifest = {
  /** Repository and revision of the model at the Hugging Face hub. */
  repository: string
  revision: string
  /**
   * Files of the model by name. Small files come first, so that an unreachable hub is detected
   * early.
   */
  files: Readonly<Record<string, SpeechModelFile>>
  packages: readonly SpeechModelPythonPackage[]
}

const manifests: ReadonlyMap<string, SpeechModelManifest> = new Map(Object.entries(manifest))

/** Names of the speech models that have a manifest and can therefore be downloaded. */
export const FETCHABLE_SPEECH_MODELS: readonly string[] = [...manifests.keys()]

/** Returns the manifest of a speech model; null for an unknown name. */
export function findSpeechModelManifest(name: string): SpeechModelManifest | null {
  return manifests.get(name) ?? null
}
