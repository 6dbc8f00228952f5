import { globSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { z } from "zod"
import { isSystemError } from "./system-error.ts"

const keptDeployment = z.object({
  /** Where it answers, without /v1. */
  origin: z.string().optional(),
  operatorToken: z.string().optional(),
  /** Made, but perhaps not yet with the Worker: a deployment sends it until one succeeds. */
  nextOperatorToken: z.string().optional(),
  /** What was deployed last from here, and as which version. */
  deployed: z.object({ fingerprint: z.string(), versionId: z.string() }).optional(),
})

export type KeptDeployment = z.infer<typeof keptDeployment>
export type DeploymentPlace = { stateDir: string; accountId: string; name: string }

/** What this machine keeps of a deployment; empty where none was made from here. */
export function readKept(place: DeploymentPlace): KeptDeployment {
  try {
    return keptDeployment.parse(JSON.parse(readFileSync(pathOf(place), "utf8")))
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return {}
    throw error
  }
}

/** Names of the deployments to an account that were made from here. */
export function keptNames({ stateDir, accountId }: Omit<DeploymentPlace, "name">): string[] {
  return globSync("*.json", { cwd: join(stateDir, "remote", accountId) }).map((file) =>
    basename(file, ".json"),
  )
}

/** Keeps it whole or not at all, for the owner's eyes only. */
export function writeKept(place: DeploymentPlace, kept: KeptDeployment): void {
  const path = pathOf(place)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(`${path}.new`, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/** The operator token of the deployment that answers at an origin; the one deployed last. */
export function findOperatorToken(stateDir: string, origin: string): string | null {
  const paths = globSync(join(stateDir, "remote", "*", "*.json"))
  const newestFirst = paths.toSorted((one, other) => writtenAt(other) - writtenAt(one))
  for (const path of newestFirst) {
    const kept = keptDeployment.parse(JSON.parse(readFileSync(path, "utf8")))
    if (kept.origin === origin && kept.operatorToken !== undefined) return kept.operatorToken
  }
  return null
}

function writtenAt(path: string): number {
  return statSync(path).mtimeMs
}

function pathOf({ stateDir, accountId, name }: DeploymentPlace): string {
  return join(stateDir, "remote", accountId, `${name}.json`)
}
