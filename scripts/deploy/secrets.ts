import { randomBytes } from "node:crypto"
import { rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { z } from "zod"
import { readDeploymentRecord, writeDeploymentRecord } from "../cli/deployment-record.ts"
import type { CheckedDeployment } from "./checks.ts"
import { callCloudflareOrThrow } from "./cloudflare.ts"

const SECRET_BYTES = 32

export type WorkerSecretsToChange = {
  /** Secrets to send with the next version of the Worker. The Worker keeps its other secrets. */
  toSend: Record<string, string>
  summary: string
}

/** Removes the Worker's secrets that are empty in the environment. Returns their names. */
export async function removeWorkerSecrets({
  api,
  name,
  deployed,
  secrets,
}: CheckedDeployment): Promise<string[]> {
  const removed = secrets.dropped.filter((each) => deployed?.secretNames.includes(each))
  for (const each of removed) {
    const path = `/workers/scripts/${name}/secrets/${each}`
    await callCloudflareOrThrow(api, z.unknown(), { method: "DELETE", path })
  }
  return removed
}

/**
 * Collects the secrets to send: new secrets that the Worker lacks, and secrets from the
 * environment. Stores a new operator token on this machine before sending the token.
 */
export function prepareWorkerSecrets(
  deployment: CheckedDeployment,
  rotatesOperatorToken: boolean,
): WorkerSecretsToChange {
  const { id, deployed } = deployment
  const there = deployed?.secretNames ?? []
  const kept = readDeploymentRecord(id)
  const toSend: Record<string, string> = {}
  if (!there.includes("LATHE_SECRET")) toSend["LATHE_SECRET"] = randomText()
  const isTokenMade = rotatesOperatorToken || !there.includes("OPERATOR_TOKEN")
  const token = kept.nextOperatorToken ?? (isTokenMade ? randomText() : undefined)
  if (token !== undefined) {
    toSend["OPERATOR_TOKEN"] = token
    writeDeploymentRecord(id, { ...kept, nextOperatorToken: token })
  }
  const summary = describeGenerated(Object.keys(toSend), kept.operatorToken !== undefined)
  const { given } = deployment.secrets
  return {
    toSend: { ...toSend, ...given },
    summary: [summary, ...describeGiven(Object.keys(given))].join("; "),
  }
}

/**
 * Writes secrets to a file that only this user can read. Calls `use` with the file's path, and then
 * removes the file.
 */
export async function withWorkerSecretsFile(
  configPath: string,
  secrets: Record<string, string>,
  use: (path: string) => Promise<void>,
): Promise<void> {
  const path = join(dirname(configPath), "secrets.json")
  try {
    writeFileSync(path, JSON.stringify(secrets), { mode: 0o600 })
    await use(path)
  } finally {
    rmSync(path, { force: true })
  }
}

function describeGenerated(generatedNames: string[], isTokenKept: boolean): string {
  if (generatedNames.length > 0)
    return `created ${generatedNames.join(" and ")}, which reach the Worker with its version`
  if (isTokenKept) return "the Worker has them"
  return (
    "the Worker has them, but its operator token is not on this machine: set OPERATOR_TOKEN for " +
    "npm run keys, or make a new one with npm run deploy -- --rotate-operator-token"
  )
}

function describeGiven(given: string[]): string[] {
  return given.length > 0 ? [`${given.join(", ")} from the environment`] : []
}

function randomText(): string {
  return randomBytes(SECRET_BYTES).toString("base64url")
}
