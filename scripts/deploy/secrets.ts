import { randomBytes } from "node:crypto"
import { rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { z } from "zod"
import { readDeploymentRecord, writeDeploymentRecord } from "../local/deployment-record.ts"
import type { Deployment } from "./checks.ts"
import { callOrThrow } from "./cloudflare.ts"

const SECRET_BYTES = 32

export type SecretPlan = {
  /** Secrets to send with the Worker's next version; it keeps the others. */
  toSend: Record<string, string>
  said: string
}

/** Removes secrets that the operator no longer wants, where the Worker has them; answers which. */
export async function removeSecrets({
  api,
  name,
  deployed,
  secrets,
}: Deployment): Promise<string[]> {
  const removed = secrets.dropped.filter((each) => deployed?.secretNames.includes(each))
  for (const each of removed) {
    const path = `/workers/scripts/${name}/secrets/${each}`
    await callOrThrow(api, z.unknown(), { method: "DELETE", path })
  }
  return removed
}

/**
 * Makes the secrets that the Worker lacks, and takes those that the operator gives; the operator
 * token is stored here before it is sent.
 */
export function planSecrets(deployment: Deployment, rotatesOperatorToken: boolean): SecretPlan {
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
  const said = sentenceOf(Object.keys(toSend), kept.operatorToken !== undefined)
  const { given } = deployment.secrets
  return { toSend: { ...toSend, ...given }, said: [said, ...toldOf(Object.keys(given))].join("; ") }
}

/** Has `use` pass secrets to wrangler in a file that only this user can read; removes the file afterwards. */
export async function withSecretsFile(
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

function sentenceOf(made: string[], isTokenKept: boolean): string {
  if (made.length > 0) return `made ${made.join(" and ")}, which go to the Worker with its version`
  if (isTokenKept) return "the Worker has them"
  return (
    "the Worker has them, but its operator token is not on this machine: set OPERATOR_TOKEN for " +
    "npm run keys, or make a new one with npm run deploy -- --rotate-operator-token"
  )
}

function toldOf(given: string[]): string[] {
  return given.length > 0 ? [`${given.join(", ")} as the environment has them`] : []
}

function randomText(): string {
  return randomBytes(SECRET_BYTES).toString("base64url")
}
