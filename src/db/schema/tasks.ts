import { sql } from "drizzle-orm"
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { TaskResult, TaskWork } from "../../contract/task.ts"
import { STATES } from "../../domain/states.ts"

export const tasks = sqliteTable(
  "tasks",
  {
    id: text("id").primaryKey(),
    jobId: text("job_id").notNull(),
    accountId: text("account_id").notNull(),
    state: text("state", { enum: STATES }).notNull(),
    /**
     * Number of the task's dispatch (fencing token). A write of a runner is accepted only with the
     * current number.
     */
    fence: integer("fence").notNull().default(0),
    priority: integer("priority").notNull(),
    /**
     * Weight of the task in its job's progress, relative to the weights of the job's other tasks.
     */
    weight: integer("weight").notNull().default(1),
    /** Name of the pool of runners that runs the task. */
    pool: text("pool").notNull(),
    work: text("work", { mode: "json" }).$type<TaskWork>().notNull(),
    /**
     * R2 key of the task's whole `work` if `work` is too large for the row, which then has only the
     * kind and the outputs.
     */
    workObjectKey: text("work_object_key"),
    /**
     * Result that the runner reported. The row keeps the result until the job's last task ends,
     * except for the tools' log.
     */
    result: text("result", { mode: "json" }).$type<TaskResult>(),
    /**
     * R2 key of the task's whole `result` if `result` is too large for the row, which then has only
     * the kind.
     */
    resultObjectKey: text("result_object_key"),
    slot: text("slot"),
    /** Number of the allocation, which is the assignment of a slot of the pool to this task. */
    allocation: integer("allocation"),
    failures: integer("failures").notNull().default(0),
    interruptions: integer("interruptions").notNull().default(0),
    /**
     * Number of runs that ended early to give their slot to another account (hand-overs). These
     * runs do not count as failures.
     */
    handOvers: integer("hand_overs").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    /** Time at which the last run was lost or failed; null if no run was lost or failed. */
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
    /**
     * R2 key of the input, copied from its file when the task is claimed for a run. The run can
     * therefore read the input even if the file's row is deleted meanwhile.
     */
    objectKey: text("object_key"),
    /**
     * Whether the task waits for the probe of a file that its own job stores. If not, the task may
     * read the file as soon as its object is stored.
     */
    awaitsProbe: integer("awaits_probe", { mode: "boolean" }).notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.taskId, table.key] }),
    index("task_inputs_of_file").on(table.fileId),
  ],
)

/**
 * Encrypted secrets of tasks, such as cookies. No API record contains these secrets. The end of a
 * job deletes the rows.
 */
export const taskSecrets = sqliteTable(
  "task_secrets",
  {
    taskId: text("task_id").notNull(),
    /**
     * Number of the part, from 0. A ciphertext that is too long for one row is stored in several
     * parts.
     */
    part: integer("part").notNull().default(0),
    jobId: text("job_id").notNull(),
    accountId: text("account_id").notNull(),
    /**
     * Part of the base64 ciphertext. A copy of the database reveals nothing without the secret of
     * the service.
     */
    sealed: text("sealed").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.taskId, table.part] }),
    index("task_secrets_of_job").on(table.jobId),
  ],
)

export type Task = typeof tasks.$inferSelect
export type TaskInputRow = typeof taskInputs.$inferSelect
