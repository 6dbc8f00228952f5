import { randomBytes } from "node:crypto"
import { z } from "zod"
import { readStateFile, writeStateFile } from "./state-folder.ts"

const SECRET_BYTES = 32
const FILE = "secrets.json"

const secrets = z.object({ LATHE_SECRET: z.string(), OPERATOR_TOKEN: z.string() })

export type ServiceSecrets = z.infer<typeof secrets>

/**
 * Returns the two secrets of the service. Takes each from the environment, else from the state
 * folder, where the first start stores new secrets.
 */
export function loadOrCreateSecrets(
  stateDir: string,
  environment: NodeJS.ProcessEnv,
): ServiceSecrets {
  const kept = readStoredSecrets(stateDir) ?? makeSecrets(stateDir)
  return {
    LATHE_SECRET: environment["LATHE_SECRET"] ?? kept.LATHE_SECRET,
    OPERATOR_TOKEN: environment["OPERATOR_TOKEN"] ?? kept.OPERATOR_TOKEN,
  }
}

/** Reads the secrets in the state folder. Returns null if no service has used the folder. */
export function readStoredSecrets(stateDir: string): ServiceSecrets | null {
  const text = readStateFile(stateDir, FILE)
  return text === null ? null : secrets.parse(JSON.parse(text))
}

function makeSecrets(stateDir: string): ServiceSecrets {
  const newSecrets = { LATHE_SECRET: makeRandomSecret(), OPERATOR_TOKEN: makeRandomSecret() }
  writeStateFile(stateDir, [FILE], `${JSON.stringify(newSecrets, null, 2)}\n`)
  return newSecrets
}

/** Creates a random secret of 43 base64url characters. */
export function makeRandomSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url")
}
