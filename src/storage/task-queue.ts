import { HEARTBEAT_MS } from "../contract/protocol.ts"
import { openClaimedJobs } from "./claimed-jobs.ts"
import { openRequestTables } from "./request-tables.ts"
import { openWalkMarks } from "./walk-marks.ts"

/**
 * The states of a queued task. `blocked`: an input is still to come. `ready`: it waits for a slot.
 * `starting`: it has a slot. `posting`: it is claimed in D1 and is being handed to a runner, which the
 * object may know in its memory alone.
 * `running`: a runner took it, and its lease counts.
 */
export type QueuedTaskState = "blocked" | "ready" | "starting" | "posting" | "running"

/** A task as its dispatcher queues it; D1 says what is true, this says what was last done. */
export type QueuedTask = {
  id: string
  jobId: string
  /** The pool of runners that does it. */
  pool: string
  priority: number
  /** Its share of the work of its job, and that of all tasks of the job together. */
  weight: number
  jobWeight: number
  state: QueuedTaskState
  fence: number | null
  slot: string | null
  /** Number of the slot's allocation. */
  allocation: number | null
  leaseUntil: number
  /** A requeued task is not started again before this moment. */
  notBefore: number
  /** Since when no runner has it: its creation, or the end of its last run. */
  waitsSince: number
  boot: string | null
}

/** What memory alone knows; no query tells the states of tasks that have a slot from each other. */
type Held = {
  tasks: Map<string, Pick<QueuedTask, "state" | "fence" | "boot" | "leaseUntil">>
  /** Tasks that had a slot and left, whose rows are still there. */
  left: Set<string>
}

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
    ...taskReads(sql, held),
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

const COLUMNS = `id, job_id as jobId, pool, priority, weight, job_weight as jobWeight, state, fence, slot, allocation,
  lease_until as leaseUntil, not_before as notBefore, waits_since as waitsSince, boot`

/** The longest backoff; a task that is to wait longer was requeued by a clock that was ahead. */
export const BACKOFF_MS_MAX = 30_000

type Select = (where: string, ...values: SqlStorageValue[]) => QueuedTask[]

function taskReads(sql: SqlStorage, { tasks, left }: Held) {
  function select(where: string, ...values: SqlStorageValue[]): QueuedTask[] {
    const rows = sql.exec<QueuedTask>(`select ${COLUMNS} from queued_tasks ${where}`, ...values)
    return rows.toArray().flatMap((task) => {
      return left.has(task.id) ? [] : [{ ...task, ...tasks.get(task.id) }]
    })
  }
  return {
    ...waitingReads(sql, select),
    find: (id: string) => select("where id = ?", id)[0] ?? null,
    ofJob: (jobId: string) => select("where job_id = ?", jobId),
    /** Tasks that wait, for inputs or for a slot, in the order of their ids: the next after one. */
    waitingAfter: (id: string, limit: number) =>
      select("where id > ? and +state in ('blocked', 'ready') order by id limit ?", id, limit),
    /** The same of those alone that wait for inputs. */
    blockedAfter: (id: string, limit: number) =>
      select("where id > ? and +state = 'blocked' order by id limit ?", id, limit),
    /** Those of some ids that are not queued, or only by a row that is still to be removed. */
    lacking(ids: readonly string[]): string[] {
      const given = JSON.stringify(ids)
      const lacking = sql.exec<{ id: string }>(
        `select value as id from json_each(?)
         where not exists (select 1 from queued_tasks where id = value)`,
        given,
      )
      return [...lacking.toArray().map(({ id }) => id), ...ids.filter((id) => left.has(id))]
    },
    /** Tasks that hold a slot. */
    underWay: () => select("where state in ('starting', 'posting', 'running')"),
    isEmpty: () => sql.exec("select 1 from queued_tasks limit 1").toArray().length === 0,
  }
}

/** What is asked of tasks that wait. */
function waitingReads(sql: SqlStorage, select: Select) {
  return {
    hasBlocked: () =>
      sql.exec("select 1 from queued_tasks where state = 'blocked' limit 1").toArray().length > 0,
    /** Some tasks of a pool that wait for their inputs. */
    blockedIn: (pool: string, limit: number) =>
      select("where state = 'blocked' and pool = ? limit ?", pool, limit),
    /** Tasks of a pool that could start now, in the order in which they are to. */
    ready: (limit: number, now: number, pool: string) =>
      select(
        // A comparison like that of the index of those that back off is planned anew for each value.
        `where state = 'ready' and pool = ? and (not_before <= ? or +not_before > ?)
         order by priority desc, id limit ?`,
        pool,
        now,
        now + BACKOFF_MS_MAX,
        limit,
      ),
    /** Milliseconds until the first task that backs off may start; null where none does. */
    nextReadyIn(now: number): number | null {
      const { first } = sql
        .exec<{ first: number | null }>(
          `select min(not_before) as first from queued_tasks
           where not_before > 0 and +not_before > ? and not_before <= ? and +state = 'ready'`,
          now,
          now + BACKOFF_MS_MAX,
        )
        .one()
      return first === null ? null : first - now
    },
    /** Jobs that no runner has a task of, and of which a task waits since before a moment. */
    jobsWaitingSince(before: number, limit: number): string[] {
      const rows = sql.exec<{ jobId: string }>(
        `select job_id as jobId from queued_tasks as waiting
         where state <> 'running' and waits_since <= ? and not exists (
           select 1 from queued_tasks as other
           where other.job_id = waiting.job_id and other.state = 'running')
         order by waits_since limit ?`,
        before,
        limit,
      )
      return [...new Set(rows.toArray().map(({ jobId }) => jobId))]
    },
    /** Since when the task waits that waits longest; null where none does. */
    waitsLongestSince(): number | null {
      const rows = sql.exec<{ since: number }>(
        `select waits_since as since from queued_tasks
         where state <> 'running' order by waits_since limit 1`,
      )
      return rows.toArray()[0]?.since ?? null
    },
  }
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
    /** Queues a task; one that is queued already stays as it is. True where it is new. */
    add(task: QueuedTask): boolean {
      removeLeft(sql, held)
      const { rowsWritten } = sql.exec(
        `insert into queued_tasks (id, job_id, pool, priority, weight, job_weight, state, fence,
         slot, allocation, lease_until, not_before, waits_since, boot)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         on conflict do nothing`,
        task.id,
        task.jobId,
        task.pool,
        task.priority,
        task.weight,
        task.jobWeight,
        ...CHANGING.flatMap(([, name]) => (name === "pool" ? [] : task[name])),
      )
      return rowsWritten > 0
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
    .exec<QueuedTask>(`select ${COLUMNS} from queued_tasks where id = ?`, task.id)
    .toArray()
  if (!row) return
  const changed = CHANGING.filter(([, name]) => row[name] !== task[name])
  if (changed.length === 0) return
  const set = changed.map(([column]) => `${column} = ?`).join(", ")
  const values = changed.map(([, name]) => task[name])
  sql.exec(`update queued_tasks set ${set} where id = ?`, ...values, task.id)
}

/** Columns of what may change of a task. */
const CHANGING = [
  ["pool", "pool"],
  ["state", "state"],
  ["fence", "fence"],
  ["slot", "slot"],
  ["allocation", "allocation"],
  ["lease_until", "leaseUntil"],
  ["not_before", "notBefore"],
  ["waits_since", "waitsSince"],
  ["boot", "boot"],
] as const satisfies [string, keyof QueuedTask][]

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
