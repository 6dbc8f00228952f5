import { sql } from "drizzle-orm"
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { TaskResult, TaskWork } from "../../contract/task.ts"
import { STATES } from "./states.ts"

export const tasks = sqliteTable(
  "tasks",
  {
    id: text("id").primaryKey(),
    jobId: text("job_id").notNull(),
    accountId: text("account_id").notNull(),
    state: text("state", { enum: STATES }).notNull(),
    /** Number of the dispatch; every write that comes back is checked against it. */
    fence: integer("fence").notNull().default(0),
    priority: integer("priority").notNull(),
    /** Its share of the work of its job, beside those of the job's other tasks. */
    weight: integer("weight").notNull().default(1),
    /** The pool of runners that does it; tasks of earlier versions have none. */
    pool: text("pool"),
    work: text("work", { mode: "json" }).$type<TaskWork>().notNull(),
    /** Where the whole work is when it is too large; `work` then has its kind and its outputs. */
    workObjectKey: text("work_object_key"),
    /** What it reported, kept until the last task of its job is done; its tools' log for longer. */
    result: text("result", { mode: "json" }).$type<TaskResult>(),
    /** Where the whole result is when it is too large; `result` then has its kind. */
    resultObjectKey: text("result_object_key"),
    slot: text("slot"),
    /** Number of the slot's allocation that the running dispatch holds. */
    allocation: integer("allocation"),
    failures: integer("failures").notNull().default(0),
    interruptions: integer("interruptions").notNull().default(0),
    /** Runs that were ended for another account's turn; they cost none of the budgets. */
    handOvers: integer("hand_overs").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    /** When the last run of it was lost or failed; null where none was. */
    requeuedAt: integer("requeued_at"),
    completedAt: integer("completed_at"),
  },
  (table) => [
    index("tasks_of_job").on(table.jobId),
    index("tasks_open")
      .on(table.accountId, table.state, table.id)
      .where(sql`state in ('waiting', 'running')`),
  ],
)

export const taskInputs = sqliteTable(
  "task_inputs",
  {
    taskId: text("task_id").notNull(),
    key: text("key").notNull(),
    fileId: text("file_id").notNull(),
    /** Where the bytes are, noted when the task is claimed: a file deleted later is read to its end. */
    objectKey: text("object_key"),
    /** Whether the task waits for a file of its own job until that was probed, too. */
    awaitsProbe: integer("awaits_probe", { mode: "boolean" }).notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.taskId, table.key] }),
    index("task_inputs_of_file").on(table.fileId),
  ],
)

/** What a task is told and nobody is ever shown, such as cookies; gone with the end of its job. */
export const taskSecrets = sqliteTable(
  "task_secrets",
  {
    taskId: text("task_id").notNull(),
    /** From 0: what is encrypted may have more bytes than a row has room for. */
    part: integer("part").notNull().default(0),
    jobId: text("job_id").notNull(),
    accountId: text("account_id").notNull(),
    /** Encrypted: a copy of the database shows them to nobody without the secret of the service. */
    sealed: text("sealed").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.taskId, table.part] }),
    index("task_secrets_of_job").on(table.jobId),
  ],
)

export type Task = typeof tasks.$inferSelect
