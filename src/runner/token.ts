import { z } from "zod"
import { fromBase64Url, sign, toBase64Url, verify } from "../crypto/signature.ts"
import type { TaskRun } from "../rpc.ts"

const PURPOSE = "task"

/**
 * For so long what D1 said of a run counts without asking again. A run that has lost its task meanwhile
 * may read what it could read before, and writes below a prefix of its own: such a prefix is emptied
 * again an hour after it became garbage.
 */
export const RUN_KNOWN_MS = 10_000
/** A longer grant is left out of the token, which every call carries. */
const GRANT_LENGTH_MAX = 2048

/** What a task may read and write, and when D1 said so: objects of inputs by key, keys of outputs. */
export type TaskGrant = { at: number; inputs: Record<string, string>; outputs: string[] }

const taskGrant = z.object({
  at: z.number(),
  inputs: z.record(z.string(), z.string()),
  outputs: z.array(z.string()),
})

/** A token that opens the I/O routes for one task at one fence and nothing else. */
export async function makeTaskToken(
  secret: string,
  run: TaskRun,
  grant?: TaskGrant,
): Promise<string> {
  const { accountId, jobId, taskId, fence } = run
  const parts = [accountId, jobId, taskId, fence, ...(grant ? writeGrant(grant) : [])]
  const text = parts.join(".")
  return `${text}.${await sign(secret, PURPOSE, text)}`
}

/** The run that a token is valid for, and what it grants; null where it was not made by us. */
export async function readTaskToken(
  secret: string,
  token: string,
): Promise<{ run: TaskRun; grant: TaskGrant | null } | null> {
  const parts = token.split(".")
  const signature = parts.pop() ?? ""
  const [accountId = "", jobId = "", taskId = "", fence = "", grant, ...rest] = parts
  if (rest.length > 0) return null
  if (!(await verify(secret, PURPOSE, { text: parts.join("."), signature }))) return null
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
