import { sign, verify } from "../crypto/signature.ts"
import type { TaskRun } from "../rpc.ts"

const PURPOSE = "task"

/** A token that opens the I/O routes for one task at one fence and nothing else. */
export async function makeTaskToken(secret: string, run: TaskRun): Promise<string> {
  const text = `${run.accountId}.${run.jobId}.${run.taskId}.${run.fence}`
  return `${text}.${await sign(secret, PURPOSE, text)}`
}

/** The run that a token is valid for; null where it was not made by us. */
export async function readTaskToken(secret: string, token: string): Promise<TaskRun | null> {
  const [accountId = "", jobId = "", taskId = "", fence = "", signature = "", ...rest] =
    token.split(".")
  if (rest.length > 0) return null
  const text = `${accountId}.${jobId}.${taskId}.${fence}`
  if (!(await verify(secret, PURPOSE, { text, signature }))) return null
  return { accountId, jobId, taskId, fence: Number(fence) }
}
