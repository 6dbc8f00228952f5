import { and, eq, isNotNull } from "drizzle-orm"
import { z } from "zod"
import type { AccountDatabase } from "../database.ts"
import { readLogOfEndedTasks } from "./ended-tasks.ts"
import { readLargeValue } from "../values/large-values.ts"
import { jobs } from "../schema/jobs.ts"
import { tasks } from "../schema/tasks.ts"

const withLog = z.looseObject({ log: z.string().optional() })

/** Returns the log of a job's tools (FFmpeg and others); null if no log is stored. */
export async function readJobLog(
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
    const { log } = await readLargeValue(bucket, resultObjectKey, { inRow, schema: withLog })
    if (log !== undefined) return log
  }
  return readLogOfEndedTasks(job?.endedTasks) ?? null
}
