import { and, eq, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { taskSecrets as secretsOfTask } from "../contract/task.ts"
import type { TaskSecrets } from "../contract/task.ts"
import { openText, sealText } from "../crypto/sealed-text.ts"
import type { AccountDatabase, Database, Statement } from "./database.ts"
import { jobs } from "./schema/jobs.ts"
import { taskSecrets } from "./schema/tasks.ts"

/** Encrypts what a task's runner is told beside its work, under the secret of the service. */
export async function sealSecrets(
  serviceSecret: string,
  taskId: string,
  secrets: TaskSecrets,
): Promise<string> {
  return await sealText(serviceSecret, useOf(taskId), JSON.stringify(secrets))
}

/** The secrets of a task; null where they were encrypted under another secret of the service. */
export async function openSecrets(
  serviceSecret: string,
  taskId: string,
  sealed: string,
): Promise<TaskSecrets | null> {
  const text = await openText(serviceSecret, useOf(taskId), sealed)
  return text === null ? null : secretsOfTask.parse(JSON.parse(text))
}

function useOf(taskId: string) {
  return { purpose: "task secrets", owner: taskId }
}

/** Keeps the sealed secrets of a task until the task's job ends. */
export function insertSecrets(
  { accountId, sql: database }: AccountDatabase,
  kept: { taskId: string; jobId: string; sealed: string },
): Statement {
  return database.insert(taskSecrets).values({ ...kept, accountId })
}

/** Forgets the secrets of a job's tasks, where `condition` holds. */
export function deleteSecrets(
  { accountId, sql: database }: AccountDatabase,
  jobId: string,
  condition?: SQL,
): Statement {
  return database
    .delete(taskSecrets)
    .where(and(eq(taskSecrets.jobId, jobId), eq(taskSecrets.accountId, accountId), condition))
}

/** Forgets secrets, of some jobs of all accounts, whose jobs are over or gone. */
export async function deleteLeftSecrets(database: Database, limit: number): Promise<void> {
  const isOpen = sql`exists (select 1 from ${jobs} where ${jobs.id} = ${taskSecrets.jobId} and ${jobs.state} in ('waiting', 'running'))`
  const left = database
    .select({ jobId: taskSecrets.jobId })
    .from(taskSecrets)
    .where(sql`not ${isOpen}`)
    .limit(limit)
  await database.delete(taskSecrets).where(sql`${taskSecrets.jobId} in ${left}`)
}
