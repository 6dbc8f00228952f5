import { randomBytes } from "node:crypto"
import { z } from "zod"
import { readStateFile, writeStateFile } from "./state-folder.ts"

const SECRET_BYTES = 32
const FILE = "secrets.json"

const secrets = z.object({ LATHE_SECRET: z.string(), OPERATOR_TOKEN: z.string() })

export type Secrets = z.infer<typeof secrets>

/** The service's two secrets: the environment's, else those kept in the state folder, made once. */
export function loadSecrets(stateDir: string, environment: NodeJS.ProcessEnv): Secrets {
  const kept = storedSecrets(stateDir) ?? makeSecrets(stateDir)
  return {
    LATHE_SECRET: environment["LATHE_SECRET"] ?? kept.LATHE_SECRET,
    OPERATOR_TOKEN: environment["OPERATOR_TOKEN"] ?? kept.OPERATOR_TOKEN,
  }
}

/** What the state folder keeps; null where no service has run there. */
export function storedSecrets(stateDir: string): Secrets | null {
  const text = readStateFile(stateDir, FILE)
  return text === null ? null : secrets.parse(JSON.parse(text))
}

function makeSecrets(stateDir: string): Secrets {
  const made = { LATHE_SECRET: randomText(), OPERATOR_TOKEN: randomText() }
  writeStateFile(stateDir, [FILE], `${JSON.stringify(made, null, 2)}\n`)
  return made
}

/** A secret that nobody can guess, as 43 characters that fit everywhere. */
export function randomText(): string {
  return randomBytes(SECRET_BYTES).toString("base64url")
}
