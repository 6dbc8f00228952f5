import { statSync } from "node:fs"
import { basename, join } from "node:path"
import { z } from "zod"
import { listStateFolder, readStateFile, writeStateFile } from "./state-folder.ts"

const FOLDER = "remote"

const deploymentRecord = z.object({
  /** Its origin, without /v1. */
  origin: z.string().optional(),
  operatorToken: z.string().optional(),
  /** A new token, which each deployment sends until one succeeds. */
  nextOperatorToken: z.string().optional(),
  /** Hash of the sources that were deployed last from here, and their version. */
  deployed: z.object({ fingerprint: z.string(), versionId: z.string() }).optional(),
  /** The base image of what was deployed last from here, by its digest. */
  base: z.string().optional(),
})

export type DeploymentRecord = z.infer<typeof deploymentRecord>
export type DeploymentId = { stateDir: string; accountId: string; name: string }

/** Reads this machine's record of a deployment; empty where none was made from here. */
export function readDeploymentRecord(id: DeploymentId): DeploymentRecord {
  const text = readStateFile(id.stateDir, ...namesOf(id))
  return text === null ? {} : deploymentRecord.parse(JSON.parse(text))
}

/** Names of the deployments to an account that were made from here. */
export function recordedNames({ stateDir, accountId }: Omit<DeploymentId, "name">): string[] {
  return listStateFolder(stateDir, FOLDER, accountId)
    .filter((file) => file.endsWith(".json"))
    .map((file) => basename(file, ".json"))
}

/** Writes the record atomically, readable by its owner only. */
export function writeDeploymentRecord(id: DeploymentId, kept: DeploymentRecord): void {
  writeStateFile(id.stateDir, namesOf(id), `${JSON.stringify(kept, null, 2)}\n`)
}

/** The deployments of a name that were made from here, one an account, and their origins. */
export function deploymentsNamed(
  stateDir: string,
  name: string,
): (DeploymentId & { origin: string })[] {
  return listStateFolder(stateDir, FOLDER).flatMap((accountId) => {
    const id = { stateDir, accountId, name }
    const { origin } = readDeploymentRecord(id)
    return origin === undefined ? [] : [{ ...id, origin }]
  })
}

/** The operator token of the deployment at an origin; of several, the one written last. */
export function findOperatorToken(stateDir: string, origin: string): string | null {
  const ids = listStateFolder(stateDir, FOLDER).flatMap((accountId) =>
    recordedNames({ stateDir, accountId }).map((name) => ({ stateDir, accountId, name })),
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
