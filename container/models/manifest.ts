import manifest from "./manifest.json" with { type: "json" }

/** A file of a model; `parts` are the files of its packages that make it up, one after the other. */
export type ModelFile = { bytes: number; sha256: string; parts: readonly string[] }

/** A package of the package index that carries files of a model, by the hash of its wheel. */
export type ModelPackage = { name: string; version: string; sha256: string }

/** What a model consists of, and where its files come from. */
export type ModelManifest = {
  /** The repository of the hub, and its revision. */
  repository: string
  revision: string
  /** By name, the small ones first. */
  files: Readonly<Record<string, ModelFile>>
  packages: readonly ModelPackage[]
}

const manifests: ReadonlyMap<string, ModelManifest> = new Map(Object.entries(manifest))

/** Names of the models that can be fetched. */
export const FETCHABLE_MODELS: readonly string[] = [...manifests.keys()]

/** The manifest of a model; null where there is none. */
export function manifestOf(name: string): ModelManifest | null {
  return manifests.get(name) ?? null
}
