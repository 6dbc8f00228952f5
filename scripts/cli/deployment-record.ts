import { statSync } from "node:fs"
import { basename, join } from "node:path"
import { z } from "zod"
import { listStateFolder, readStateFile, writeStateFile } from "./state-folder.ts"

const FOLDER = "remote"

const deploymentRecord = z.object({
  /** Origin of the deployment, without /v1. */
  origin: z.string().optional(),
  operatorToken: z.string().optional(),
  /** New operator token. Each run of `npm run deploy` sends the token until one run succeeds. */
  nextOperatorToken: z.string().optional(),
  /**
   * Hash of the sources that this machine deployed last, and the Worker version of that deployment.
   */
  deployed: z.object({ fingerprint: z.string(), versionId: z.string() }).optional(),
  /** Base image of the container images that this machine deployed last, with its digest. */
  base: z.string().optional(),
})

export type DeploymentRecord = z.infer<typeof deploymentRecord>
export type DeploymentId = { stateDir: string; accountId: string; name: string }

/**
 * Reads this machine's record of a deployment. Returns an empty record if this machine has never
 * made the deployment.
 */
export function readDeploymentRecord(id: DeploymentId): DeploymentRecord {
  const text = readStateFile(id.stateDir, ...namesOf(id))
  return text === null ? {} : deploymentRecord.parse(JSON.parse(text))
}

/** Returns the names of the deployments that this machine has made in a Cloudflare account. */
export function listRecordedDeployments({
  stateDir,
  accountId,
}: Omit<DeploymentId, "name">): string[] {
  return listStateFolder(stateDir, FOLDER, accountId)
    .filter((file) => file.endsWith(".json"))
    .map((file) => basename(file, ".json"))
}

/** Writes the record of a deployment atomically. Only the file's owner can read the file. */
export function writeDeploymentRecord(id: DeploymentId, kept: DeploymentRecord): void {
  writeStateFile(id.stateDir, namesOf(id), `${JSON.stringify(kept, null, 2)}\n`)
}

/**
 * Returns the deployments with this name that this machine has made, at most one per Cloudflare
 * account, with their origins.
 */
export function findDeploymentsByName(
  stateDir: string,
  name: string,
): (DeploymentId & { origin: string })[] {
  return listStateFolder(stateDir, FOLDER).flatMap((accountId) => {
    const id = { stateDir, accountId, name }
    const { origin } = readDeploymentRecord(id)
    return origin === undefined ? [] : [{ ...id, origin }]
  })
}

/**
 * Returns the operator token of the deployment at an origin, from the newest record with a token.
 * Returns null if no record has one.
 */
export function findOperatorToken(stateDir: string, origin: string): string | null {
  const ids = listStateFolder(stateDir, FOLDER).flatMap((accountId) =>
    listRecordedDeployments({ stateDir, accountId }).map((name) => ({ stateDir, accountId, name })),
  )
  for (const id of ids.toSorted((one, other) => writtenAt(other) - writtenAt(one))) {
    const kept = readDeploymentRecord(id)
    if (kept.origin === origin && kept.operatorToken !== undefined) return kept.operatorToken
  }
  return null
}

function writtenAt(id: DeploymentId): number {
  return statSync(join(id.stateDir, ...namesOf(id))).mtimeMs
}

function namesOf({ accountId, name }: DeploymentId): string[] {
  return [FOLDER, accountId, `${name}.json`]
}
