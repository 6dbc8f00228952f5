import { globSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { z } from "zod"
import { isSystemError } from "./system-error.ts"

const deploymentRecord = z.object({
  /** Its origin, without /v1. */
  origin: z.string().optional(),
  operatorToken: z.string().optional(),
  /** A new token, which each deployment sends until one succeeds. */
  nextOperatorToken: z.string().optional(),
  /** Hash of the sources that were deployed last from here, and their version. */
  deployed: z.object({ fingerprint: z.string(), versionId: z.string() }).optional(),
})

export type DeploymentRecord = z.infer<typeof deploymentRecord>
export type DeploymentId = { stateDir: string; accountId: string; name: string }

/** Reads this machine's record of a deployment; empty where none was made from here. */
export function readDeploymentRecord(id: DeploymentId): DeploymentRecord {
  try {
    return deploymentRecord.parse(JSON.parse(readFileSync(pathOf(id), "utf8")))
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return {}
    throw error
  }
}

/** Names of the deployments to an account that were made from here. */
export function recordedNames({ stateDir, accountId }: Omit<DeploymentId, "name">): string[] {
  return globSync("*.json", { cwd: join(stateDir, "remote", accountId) }).map((file) =>
    basename(file, ".json"),
  )
}

/** Writes the record atomically, readable by its owner only. */
export function writeDeploymentRecord(id: DeploymentId, kept: DeploymentRecord): void {
  const path = pathOf(id)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(`${path}.new`, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/** The operator token of the deployment at an origin; of several, the one written last. */
export function findOperatorToken(stateDir: string, origin: string): string | null {
  const paths = globSync(join(stateDir, "remote", "*", "*.json"))
  const newestFirst = paths.toSorted((one, other) => writtenAt(other) - writtenAt(one))
  for (const path of newestFirst) {
    const kept = deploymentRecord.parse(JSON.parse(readFileSync(path, "utf8")))
    if (kept.origin === origin && kept.operatorToken !== undefined) return kept.operatorToken
  }
  return null
}

function writtenAt(path: string): number {
  return statSync(path).mtimeMs
}

function pathOf({ stateDir, accountId, name }: DeploymentId): string {
  return join(stateDir, "remote", accountId, `${name}.json`)
}
