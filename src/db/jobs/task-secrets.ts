import { and, eq, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { taskSecretsSchema as secretsOfTask } from "../../contract/task.ts"
import type { TaskSecrets } from "../../contract/task.ts"
import { decryptText, encryptText } from "../../platform/crypto/sealed-text.ts"
import { splitRowsForInsert } from "../database.ts"
import type { AccountDatabase, Database, Statement } from "../database.ts"
import { jobs } from "../schema/jobs.ts"
import { taskSecrets } from "../schema/tasks.ts"

/** Maximum number of characters of a base64 ciphertext in one row. */
const PART_LENGTH = 32_000
const COLUMNS = 5

/** Encrypts the secrets of a task with the secret of the service. */
export async function encryptTaskSecrets(
  serviceSecret: string,
  taskId: string,
  secrets: TaskSecrets,
): Promise<string> {
  return await encryptText(serviceSecret, useOf(taskId), JSON.stringify(secrets))
}

/**
 * Decrypts the secrets of a task. Returns null if they were encrypted with another secret of the
 * service.
 */
export async function decryptTaskSecrets(
  serviceSecret: string,
  taskId: string,
  sealed: string,
): Promise<TaskSecrets | null> {
  const text = await decryptText(serviceSecret, useOf(taskId), sealed)
  return text === null ? null : secretsOfTask.parse(JSON.parse(text))
}

function useOf(taskId: string) {
  return { purpose: "task secrets", owner: taskId }
}

/** Returns statements that store the encrypted secrets of a task, in several rows if necessary. */
export function insertTaskSecretsStatements(
  { accountId, sql: database }: AccountDatabase,
  { sealed, ...row }: { taskId: string; jobId: string; sealed: string },
): Statement[] {
  const count = Math.max(1, Math.ceil(sealed.length / PART_LENGTH))
  const rows = Array.from({ length: count }, (_, part) => {
    const own = sealed.slice(part * PART_LENGTH, (part + 1) * PART_LENGTH)
    return { ...row, accountId, part, sealed: own }
  })
  return splitRowsForInsert(rows, COLUMNS).map((some) => database.insert(taskSecrets).values(some))
}

/**
 * Returns the statement that reads the encrypted secrets of a task. The rows are in the order of
 * the ciphertext's parts.
 */
export function selectTaskSecretsStatement(database: Database, taskId: string) {
  return database
    .select({ sealed: taskSecrets.sealed })
    .from(taskSecrets)
    .where(eq(taskSecrets.taskId, taskId))
    .orderBy(taskSecrets.part)
}

/** Returns the statement that deletes the secrets of a job's tasks if an SQL condition holds. */
export function deleteTaskSecretsStatement(
  { accountId, sql: database }: AccountDatabase,
  jobId: string,
  condition?: SQL,
): Statement {
  return database
    .delete(taskSecrets)
    .where(and(eq(taskSecrets.jobId, jobId), eq(taskSecrets.accountId, accountId), condition))
}

/**
 * Deletes secrets that remain in the database although their job is finished or removed, for at
 * most `limit` jobs of all accounts.
 */
export async function deleteLeftoverTaskSecrets(database: Database, limit: number): Promise<void> {
  const isOpen = sql`exists (select 1 from ${jobs} where ${jobs.id} = ${taskSecrets.jobId} and ${jobs.state} in ('waiting', 'running'))`
  const left = database
    .select({ jobId: taskSecrets.jobId })
    .from(taskSecrets)
    .where(sql`not ${isOpen}`)
    .limit(limit)
  await database.delete(taskSecrets).where(sql`${taskSecrets.jobId} in ${left}`)
}
