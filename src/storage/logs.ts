import { and, eq, isNotNull } from "drizzle-orm"
import { z } from "zod"
import type { AccountDatabase } from "./database.ts"
import { endedLog } from "./ended-tasks.ts"
import { readValue } from "./large-values.ts"
import { jobs } from "./schema/jobs.ts"
import { tasks } from "./schema/tasks.ts"

const withLog = z.looseObject({ log: z.string().optional() })

/** What the tools of a job said last; null where nothing of it is kept. */
export async function readLog(
  bucket: R2Bucket,
  { accountId, sql: database }: AccountDatabase,
  jobId: string,
): Promise<string | null> {
  const [rows, [job]] = await database.batch([
    database
      .select({ result: tasks.result, resultObjectKey: tasks.resultObjectKey })
      .from(tasks)
      .where(and(eq(tasks.jobId, jobId), eq(tasks.accountId, accountId), isNotNull(tasks.result))),
    database
      .select({ endedTasks: jobs.endedTasks })
      .from(jobs)
      .where(and(eq(jobs.id, jobId), eq(jobs.accountId, accountId))),
  ])
  for (const { result, resultObjectKey } of rows) {
    const inRow = withLog.parse(result)
    const { log } = await readValue(bucket, resultObjectKey, { inRow, schema: withLog })
    if (log !== undefined) return log
  }
  return endedLog(job?.endedTasks) ?? null
}
