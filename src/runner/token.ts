import { sign, verify } from "../contract/signature.ts"
import type { TaskPlace } from "../storage/objects.ts"

const PURPOSE = "task"

/** One dispatch of a task: the task, its job and account, and the fence. */
export type TaskRun = TaskPlace & { jobId: string }

/** A token that opens the I/O routes for one task at one fence and nothing else. */
export async function makeTaskToken(secret: string, run: TaskRun): Promise<string> {
  const text = `${run.accountId}.${run.jobId}.${run.taskId}.${run.fence}`
  return `${text}.${await sign(secret, PURPOSE, text)}`
}

/** The task and fence that a token is good for; null where it was not made by us. */
export async function readTaskToken(secret: string, token: string): Promise<TaskRun | null> {
  const [accountId = "", jobId = "", taskId = "", fence = "", signature = "", ...rest] =
    token.split(".")
  if (rest.length > 0) return null
  const text = `${accountId}.${jobId}.${taskId}.${fence}`
  if (!(await verify(secret, PURPOSE, { text, signature }))) return null
  return { accountId, jobId, taskId, fence: Number(fence) }
}
