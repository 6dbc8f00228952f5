import { and, eq, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { taskSecrets as secretsOfTask } from "../contract/task.ts"
import type { TaskSecrets } from "../contract/task.ts"
import { openText, sealText } from "../crypto/sealed-text.ts"
import { groupRows } from "./database.ts"
import type { AccountDatabase, Database, Statement } from "./database.ts"
import { jobs } from "./schema/jobs.ts"
import { taskSecrets } from "./schema/tasks.ts"

/** Characters of a row; what is encrypted is base64. */
const PART_LENGTH = 32_000
const COLUMNS = 5

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

/** Keeps the sealed secrets of a task until the task's job ends, in as many rows as they need. */
export function insertSecrets(
  { accountId, sql: database }: AccountDatabase,
  { sealed, ...kept }: { taskId: string; jobId: string; sealed: string },
): Statement[] {
  const count = Math.max(1, Math.ceil(sealed.length / PART_LENGTH))
  const rows = Array.from({ length: count }, (_, part) => {
    const own = sealed.slice(part * PART_LENGTH, (part + 1) * PART_LENGTH)
    return { ...kept, accountId, part, sealed: own }
  })
  return groupRows(rows, COLUMNS).map((some) => database.insert(taskSecrets).values(some))
}

/** The statement that reads the sealed secrets of a task, part by part. */
export function selectSecrets(database: Database, taskId: string) {
  return database
    .select({ sealed: taskSecrets.sealed })
    .from(taskSecrets)
    .where(eq(taskSecrets.taskId, taskId))
    .orderBy(taskSecrets.part)
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
