import { HEARTBEAT_MS } from "../contract/protocol.ts"
import { openClaimedJobs } from "./claimed-jobs.ts"
import { CHANGING, COLUMNS, openTaskReads, SELECTED } from "./queued-tasks.ts"
import type { Held, QueuedTask } from "./queued-tasks.ts"
import { openRequestTables } from "./request-tables.ts"
import { openWalkMarks } from "./walk-marks.ts"

/** A lease is saved so often, however many reports come: the saved one is that much shorter at most. */
const LEASE_SAVED_EVERY_MS = HEARTBEAT_MS

export type TaskQueue = ReturnType<typeof openTaskQueue>

/** The dispatcher's own tables: the tasks it queues, and what it requested of and got from pools. */
export function openTaskQueue(sql: SqlStorage) {
  // What earlier versions kept here is in D1 too and is taken from there, or is requested anew.
  for (const table of ["held", "spent", "facts", "used_allocations", "pool_requests"]) {
    sql.exec(`drop table if exists ${table}`)
  }
  sql.exec(`create table if not exists queued_tasks (
    id text primary key, job_id text not null, pool text not null, priority integer not null,
    state text not null, fence integer, slot text, allocation integer,
    lease_until integer not null, not_before integer not null, boot text,
    waits_since integer not null default 0, weight integer not null default 1,
    job_weight integer not null default 1) without rowid`)
  // Objects of earlier versions made the table without these columns.
  addColumn(sql, "waits_since", "integer not null default 0")
  addColumn(sql, "weight", "integer not null default 1")
  addColumn(sql, "job_weight", "integer not null default 1")
  sql.exec("create index if not exists queued_tasks_of_job on queued_tasks (job_id)")
  sql.exec("drop index if exists queued_tasks_order")
  sql.exec(`create index if not exists queued_tasks_order_in_pool
    on queued_tasks (state, pool, priority desc, id)`)
  sql.exec("create index if not exists queued_tasks_by_age on queued_tasks (waits_since)")
  sql.exec(`create index if not exists queued_tasks_backing_off
    on queued_tasks (not_before) where not_before > 0`)
  sql.exec("create table if not exists queue_account (id text primary key)")
  const held: Held = { tasks: new Map(), left: new Set() }
  return {
    ...openTaskReads(sql, held),
    ...runWrites(sql, held),
    ...taskWrites(sql, held),
    ...openRequestTables(sql),
    ...accountFact(sql),
    ...openWalkMarks(sql),
    ...openClaimedJobs(),
    /** Writes what was held back. */
    flush(): void {
      removeLeft(sql, held)
    },
  }
}

function addColumn(sql: SqlStorage, name: string, type: string): void {
  const known = sql.exec("select 1 from pragma_table_info('queued_tasks') where name = ?", name)
  if (known.toArray().length > 0) return
  sql.exec(`alter table queued_tasks add column ${name} ${type}`)
}

function runWrites(sql: SqlStorage, held: Held) {
  function hold({ id, state, fence, boot, leaseUntil }: QueuedTask): void {
    held.tasks.set(id, { state, fence, boot, leaseUntil })
  }
  return {
    /**
     * Keeps in memory alone that a runner gets a starting task, or has it, so that nothing waits for the
     * disk. Where that is lost, the task is starting, and its dispatch is made again at the same fence.
     */
    hold,
    /** Renews the lease of a run, of which one sign of life every few seconds is saved. */
    renew(task: QueuedTask): void {
      const [saved] = sql
        .exec<Pick<QueuedTask, "state" | "boot" | "leaseUntil">>(
          "select state, boot, lease_until as leaseUntil from queued_tasks where id = ?",
          task.id,
        )
        .toArray()
      const isKnown =
        saved?.state === "starting" || (saved?.state === task.state && saved.boot === task.boot)
      const isRecent =
        isKnown && Math.abs(task.leaseUntil - saved.leaseUntil) < LEASE_SAVED_EVERY_MS
      if (isRecent) hold(task)
      else saveTask(sql, held, task)
    },
  }
}

function taskWrites(sql: SqlStorage, held: Held) {
  return {
    save: (task: QueuedTask) => saveTask(sql, held, task),
    /** Queues tasks; one that is queued already stays as it is. */
    add(tasks: readonly QueuedTask[]): void {
      if (tasks.length === 0) return
      removeLeft(sql, held)
      sql.exec(INSERT, JSON.stringify(tasks))
    },
    /** Says since when the waiting tasks of a job wait. */
    saveWaitsSince(jobId: string, since: number): void {
      sql.exec("update queued_tasks set waits_since = ? where job_id = ?", since, jobId)
    },
    /**
     * Removes a task; the row of one that is held goes when another is added, or by `flush`. Where that
     * is lost, D1 says that the task is over when its dispatch is made again.
     */
    remove(id: string): void {
      if (held.tasks.delete(id)) held.left.add(id)
      else sql.exec("delete from queued_tasks where id = ?", id)
    },
  }
}

/** Writes the columns that differ alone, since an index of each of the others would be written too. */
function saveTask(sql: SqlStorage, held: Held, task: QueuedTask): void {
  held.tasks.delete(task.id)
  const [row] = sql
    .exec<QueuedTask>(`select ${SELECTED} from queued_tasks where id = ?`, task.id)
    .toArray()
  if (!row) return
  const changed = CHANGING.filter(([, name]) => row[name] !== task[name])
  if (changed.length === 0) return
  const set = changed.map(([column]) => `${column} = ?`).join(", ")
  const values = changed.map(([, name]) => task[name])
  sql.exec(`update queued_tasks set ${set} where id = ?`, ...values, task.id)
}

const INSERT = `insert into queued_tasks (${COLUMNS.map(([column]) => column).join(", ")})
  select ${COLUMNS.map(([, field]) => `value ->> '${field}'`).join(", ")} from json_each(?)
  where true on conflict do nothing`

function removeLeft(sql: SqlStorage, { left }: Held): void {
  if (left.size === 0) return
  const ids = JSON.stringify([...left])
  sql.exec("delete from queued_tasks where id in (select value from json_each(?))", ids)
  left.clear()
}

function accountFact(sql: SqlStorage) {
  return {
    /** The account whose queue this is; null before its first task. */
    account(): string | null {
      const rows = sql.exec<{ id: string }>("select id from queue_account").toArray()
      return rows[0]?.id ?? null
    },
    saveAccount(id: string): void {
      sql.exec("insert or ignore into queue_account (id) values (?)", id)
    },
  }
}
