import { randomBytes } from "node:crypto"
import { readDeploymentRecord, writeDeploymentRecord } from "../local/deployment-record.ts"
import type { Deployment } from "./checks.ts"

const SECRET_BYTES = 32

export type SecretPlan = {
  /** Secrets to send with the Worker's next version; it keeps the others. */
  toSend: Record<string, string>
  said: string
}

/** Makes the secrets that the Worker lacks; the operator token is stored here before it is sent. */
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
  return { toSend, said: sentenceOf(Object.keys(toSend), kept.operatorToken !== undefined) }
}

function sentenceOf(made: string[], isTokenKept: boolean): string {
  if (made.length > 0) return `made ${made.join(" and ")}, which go to the Worker with its version`
  if (isTokenKept) return "the Worker has them"
  return (
    "the Worker has them, but its operator token is not on this machine: set OPERATOR_TOKEN for " +
    "npm run keys, or make a new one with npm run deploy -- --rotate-operator-token"
  )
}

function randomText(): string {
  return randomBytes(SECRET_BYTES).toString("base64url")
}
