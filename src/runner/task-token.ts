import { z } from "zod"
import {
  fromBase64Url,
  signText,
  toBase64Url,
  verifyTextSignature,
} from "../platform/crypto/signature.ts"
import type { TaskRun } from "../bindings/rpc.ts"

const PURPOSE = "task"

/**
 * Time for which a grant, the list of objects that a run may access, is valid, in milliseconds. A
 * run that lost its task within this time may still read its inputs and write below its own prefix
 * of R2. Garbage collection empties that prefix again an hour later.
 */
export const GRANT_VALID_MS = 10_000
/**
 * Maximum length of a grant in a token, in characters. The length is limited because every call of
 * a run carries the token.
 */
const GRANT_LENGTH_MAX = 2048

/**
 * Objects that a run may access, as D1 listed them at the time `at`. `inputs` maps the key of each
 * input to its R2 object key; `outputs` lists the keys of the outputs.
 */
export type TaskGrant = { at: number; inputs: Record<string, string>; outputs: string[] }

const taskGrant = z.object({
  at: z.number(),
  inputs: z.record(z.string(), z.string()),
  outputs: z.array(z.string()),
})

/**
 * Creates a token for the routes of `makeIoRoutes` that is valid for one task with one fencing
 * token. Leaves out a grant (the list of permitted objects) that is too long.
 */
export async function makeTaskToken(
  secret: string,
  run: TaskRun,
  grant?: TaskGrant,
): Promise<string> {
  const { accountId, jobId, taskId, fence } = run
  const parts = [accountId, jobId, taskId, fence, ...(grant ? writeGrant(grant) : [])]
  const text = parts.join(".")
  return `${text}.${await signText(secret, PURPOSE, text)}`
}

/** Returns the run and grant that a token contains. Returns null if the signature is invalid. */
export async function verifyTaskToken(
  secret: string,
  token: string,
): Promise<{ run: TaskRun; grant: TaskGrant | null } | null> {
  const parts = token.split(".")
  const signature = parts.pop() ?? ""
  const [accountId = "", jobId = "", taskId = "", fence = "", grant, ...rest] = parts
  if (rest.length > 0) return null
  if (!(await verifyTextSignature(secret, PURPOSE, { text: parts.join("."), signature })))
    return null
  const run = { accountId, jobId, taskId, fence: Number(fence) }
  return { run, grant: grant === undefined ? null : readGrant(grant) }
}

function writeGrant(grant: TaskGrant): string[] {
  const text = toBase64Url(new TextEncoder().encode(JSON.stringify(grant)))
  return text.length > GRANT_LENGTH_MAX ? [] : [text]
}

function readGrant(text: string): TaskGrant | null {
  const bytes = fromBase64Url(text)
  return bytes && taskGrant.parse(JSON.parse(new TextDecoder().decode(bytes)))
}
