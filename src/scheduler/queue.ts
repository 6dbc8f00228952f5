import { HEARTBEAT_INTERVAL_MS } from "../contract/protocol.ts"
import { BACKOFF_MS_MAX } from "../jobs/settle/attempts.ts"
import type { QueuedTask } from "./queued-task.ts"

/**
 * Interval between writes of a run's renewed lease to storage, in milliseconds. The stored lease
 * ends at most this much earlier than the lease in memory.
 */
const LEASE_SAVED_EVERY_MS = HEARTBEAT_INTERVAL_MS

const TABLES = [
  `create table if not exists queued_tasks (
    id text primary key, job_id text not null, pool text not null, priority integer not null,
    weight integer not null default 1, job_weight integer not null default 1,
    state text not null, fence integer, slot text, allocation integer,
    lease_until integer not null, not_before integer not null, waits_since integer not null,
    boot text) without rowid`,
  "create index if not exists queued_tasks_of_job on queued_tasks (job_id)",
  `create index if not exists queued_tasks_order_in_pool
    on queued_tasks (state, pool, priority desc, id)`,
  "create index if not exists queued_tasks_by_age on queued_tasks (waits_since)",
  `create index if not exists queued_tasks_backing_off
    on queued_tasks (not_before) where not_before > 0`,
]

const PLANNED = ["id", "jobId", "priority", "weight", "jobWeight"] as const
const CHANGING = [
  "pool",
  "state",
  "fence",
  "slot",
  "allocation",
  "leaseUntil",
  "notBefore",
  "waitsSince",
  "boot",
] as const
const FIELDS = [...PLANNED, ...CHANGING]
const SELECTED = FIELDS.map((field) => `${columnOf(field)} as ${field}`).join(", ")
const INSERT = `insert into queued_tasks (${FIELDS.map(columnOf).join(", ")})
  select ${FIELDS.map((field) => `value ->> '${field}'`).join(", ")} from json_each(?)
  where true on conflict do nothing`

function columnOf(field: keyof QueuedTask): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Queue of an account's open tasks, stored in the tables of the account's dispatcher. */
export class TaskQueue {
  readonly #sql: SqlStorage
  /**
   * Newer states of tasks that have a slot, kept in memory only. Queries may use the older states
   * in the rows, because no query distinguishes the states of tasks that have a slot.
   */
  readonly #held = new Map<string, Pick<QueuedTask, "state" | "fence" | "boot" | "leaseUntil">>()
  /** Ids of removed tasks whose rows are not deleted yet. */
  readonly #left = new Set<string>()

  constructor(sql: SqlStorage) {
    this.#sql = sql
    for (const statement of TABLES) sql.exec(statement)
  }

  /** Queues tasks. Does not change tasks that are already queued. */
  add(tasks: readonly QueuedTask[]): void {
    if (tasks.length === 0) return
    this.flush()
    this.#sql.exec(INSERT, JSON.stringify(tasks))
  }

  /**
   * Saves a queued task. Writes only changed columns, because each written column may cost the
   * write of an index.
   */
  save(task: QueuedTask): void {
    this.#held.delete(task.id)
    const row = this.#savedOf(task.id)
    if (!row) return
    const changed = CHANGING.filter((field) => row[field] !== task[field])
    if (changed.length === 0) return
    const set = changed.map((field) => `${columnOf(field)} = ?`).join(", ")
    const values = changed.map((field) => task[field])
    this.#sql.exec(`update queued_tasks set ${set} where id = ?`, ...values, task.id)
  }

  /**
   * Keeps in memory only the new state of a task that has a slot, so that the object does not wait
   * for its storage. If the memory is lost, the row still has the state `starting`, and the
   * dispatch is repeated with the same fencing token.
   */
  hold({ id, state, fence, boot, leaseUntil }: QueuedTask): void {
    this.#held.set(id, { state, fence, boot, leaseUntil })
  }

  /**
   * Renews the lease of a run. Writes a renewal to storage only every few seconds, and keeps
   * further renewals in memory.
   */
  renew(task: QueuedTask): void {
    const saved = this.#savedOf(task.id)
    const isKnown =
      saved?.state === "starting" || (saved?.state === task.state && saved.boot === task.boot)
    if (isKnown && Math.abs(task.leaseUntil - saved.leaseUntil) < LEASE_SAVED_EVERY_MS) {
      this.hold(task)
    } else this.save(task)
  }

  /** Sets the time from which the waiting time of a job's tasks is counted. */
  saveWaitsSince(jobId: string, since: number): void {
    this.#sql.exec("update queued_tasks set waits_since = ? where job_id = ?", since, jobId)
  }

  /**
   * Removes a task from the queue. If a newer state of the task is kept in memory only, its row is
   * deleted by the next `add` or `flush`. If the object dies before that, the dispatch is repeated
   * and finds in D1 that the task is over.
   */
  remove(id: string): void {
    if (this.#held.delete(id)) this.#left.add(id)
    else this.#sql.exec("delete from queued_tasks where id = ?", id)
  }

  /** Deletes the rows of removed tasks. */
  flush(): void {
    if (this.#left.size === 0) return
    const ids = JSON.stringify([...this.#left])
    this.#sql.exec("delete from queued_tasks where id in (select value from json_each(?))", ids)
    this.#left.clear()
  }

  find(id: string): QueuedTask | null {
    return this.#select("where id = ?", id)[0] ?? null
  }

  /** Returns the queued tasks with these ids, by id. */
  findAll(ids: readonly string[]): Map<string, QueuedTask> {
    if (ids.length === 0) return new Map()
    const where = "where id in (select value from json_each(?))"
    return new Map(this.#select(where, JSON.stringify(ids)).map((task) => [task.id, task]))
  }

  ofJob(jobId: string): QueuedTask[] {
    return this.#select("where job_id = ?", jobId)
  }

  /** Returns all tasks that hold a slot. */
  underWay(): QueuedTask[] {
    return this.#select("where state in ('starting', 'posting', 'running')")
  }

  /** Returns tasks in the given states that follow the id `after`, ordered by id. */
  nextIn(states: readonly QueuedTask["state"][], after: string, limit: number): QueuedTask[] {
    const list = states.map((state) => `'${state}'`).join(", ")
    return this.#select(`where id > ? and +state in (${list}) order by id limit ?`, after, limit)
  }

  /**
   * Returns at most `limit` tasks of a pool that could start now, in the order in which they start.
   */
  ready(limit: number, now: number, pool: string): QueuedTask[] {
    return this.#select(
      // The unary `+` prevents SQLite from using the index of tasks in backoff for this comparison.
      // SQLite would otherwise plan the query again for each value.
      `where state = 'ready' and pool = ? and (not_before <= ? or +not_before > ?)
       order by priority desc, id limit ?`,
      pool,
      now,
      now + BACKOFF_MS_MAX,
      limit,
    )
  }

  /**
   * Returns those of the given ids whose tasks are not in the queue, including removed tasks whose
   * rows are not deleted yet.
   */
  lacking(ids: readonly string[]): string[] {
    const lacking = this.#query<{ id: string }>(
      `select value as id from json_each(?)
       where not exists (select 1 from queued_tasks where id = value)`,
      JSON.stringify(ids),
    )
    return [...lacking.map(({ id }) => id), ...ids.filter((id) => this.#left.has(id))]
  }

  isEmpty(): boolean {
    return this.#query("select 1 from queued_tasks limit 1").length === 0
  }

  hasBlocked(): boolean {
    return this.#query("select 1 from queued_tasks where state = 'blocked' limit 1").length > 0
  }

  /**
   * Returns the milliseconds until the first task in backoff may start. Returns null if no task is
   * in backoff.
   */
  nextReadyIn(now: number): number | null {
    const [row] = this.#query<{ first: number | null }>(
      `select min(not_before) as first from queued_tasks
       where not_before > 0 and +not_before > ? and not_before <= ? and +state = 'ready'`,
      now,
      now + BACKOFF_MS_MAX,
    )
    return typeof row?.first === "number" ? row.first - now : null
  }

  /**
   * Returns the ids of jobs that have no running task, and of which a task has waited since the
   * time `before` or an earlier time.
   */
  jobsWaitingSince(before: number, limit: number): string[] {
    const rows = this.#query<{ jobId: string }>(
      `select job_id as jobId from queued_tasks as waiting
       where state <> 'running' and waits_since <= ? and not exists (
         select 1 from queued_tasks as other
         where other.job_id = waiting.job_id and other.state = 'running')
       order by waits_since limit ?`,
      before,
      limit,
    )
    return [...new Set(rows.map(({ jobId }) => jobId))]
  }

  /**
   * Returns the time since which the longest-waiting task has waited. Returns null if no task
   * waits.
   */
  waitsLongestSince(): number | null {
    const [row] = this.#query<{ since: number }>(
      `select waits_since as since from queued_tasks
       where state <> 'running' order by waits_since limit 1`,
    )
    return row?.since ?? null
  }

  #savedOf(id: string): QueuedTask | undefined {
    return this.#query<QueuedTask>(`select ${SELECTED} from queued_tasks where id = ?`, id)[0]
  }

  #select(where: string, ...values: SqlStorageValue[]): QueuedTask[] {
    const query = `select ${SELECTED} from queued_tasks ${where}`
    return this.#query<QueuedTask>(query, ...values).flatMap((task) =>
      this.#left.has(task.id) ? [] : [{ ...task, ...this.#held.get(task.id) }],
    )
  }

  #query<Row extends Record<string, SqlStorageValue>>(
    query: string,
    ...values: SqlStorageValue[]
  ): Row[] {
    return this.#sql.exec<Row>(query, ...values).toArray()
  }
}
