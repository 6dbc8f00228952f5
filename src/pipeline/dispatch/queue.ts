import { HEARTBEAT_MS } from "../../contract/protocol.ts"
import { BACKOFF_MS_MAX } from "../settle/attempts.ts"
import type { QueuedTask } from "./queued-task.ts"

/** A lease is saved so often, however many reports come: the saved one is that much shorter at most. */
const LEASE_SAVED_EVERY_MS = HEARTBEAT_MS

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

/** The tasks of an account that are not over, in the tables of its dispatcher. */
export class TaskQueue {
  readonly #sql: SqlStorage
  /** State that memory alone has; no query tells the states of tasks that have a slot from each other. */
  readonly #held = new Map<string, Pick<QueuedTask, "state" | "fence" | "boot" | "leaseUntil">>()
  /** Tasks that had a slot and left, whose rows are still there. */
  readonly #left = new Set<string>()

  constructor(sql: SqlStorage) {
    this.#sql = sql
    for (const statement of TABLES) sql.exec(statement)
  }

  /** Queues tasks; one that is queued already stays as it is. */
  add(tasks: readonly QueuedTask[]): void {
    if (tasks.length === 0) return
    this.flush()
    this.#sql.exec(INSERT, JSON.stringify(tasks))
  }

  /** Writes the columns that differ alone, since an index of each of the others would be written too. */
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
   * Keeps in memory alone that a runner gets a starting task, or has it, so that nothing waits for the
   * disk. Where that is lost, the task is starting, and its dispatch is made again at the same fence.
   */
  hold({ id, state, fence, boot, leaseUntil }: QueuedTask): void {
    this.#held.set(id, { state, fence, boot, leaseUntil })
  }

  /** Renews the lease of a run, of which one sign of life every few seconds is saved. */
  renew(task: QueuedTask): void {
    const saved = this.#savedOf(task.id)
    const isKnown =
      saved?.state === "starting" || (saved?.state === task.state && saved.boot === task.boot)
    if (isKnown && Math.abs(task.leaseUntil - saved.leaseUntil) < LEASE_SAVED_EVERY_MS) {
      this.hold(task)
    } else this.save(task)
  }

  /** Sets since when the tasks of a job wait. */
  saveWaitsSince(jobId: string, since: number): void {
    this.#sql.exec("update queued_tasks set waits_since = ? where job_id = ?", since, jobId)
  }

  /**
   * Removes a task; the row of one that is held goes when another is added, or by `flush`. Where that
   * is lost, D1 says that the task is over when its dispatch is made again.
   */
  remove(id: string): void {
    if (this.#held.delete(id)) this.#left.add(id)
    else this.#sql.exec("delete from queued_tasks where id = ?", id)
  }

  /** Removes the rows of tasks that left. */
  flush(): void {
    if (this.#left.size === 0) return
    const ids = JSON.stringify([...this.#left])
    this.#sql.exec("delete from queued_tasks where id in (select value from json_each(?))", ids)
    this.#left.clear()
  }

  find(id: string): QueuedTask | null {
    return this.#select("where id = ?", id)[0] ?? null
  }

  /** Queued tasks of some ids, by their ids. */
  findAll(ids: readonly string[]): Map<string, QueuedTask> {
    if (ids.length === 0) return new Map()
    const where = "where id in (select value from json_each(?))"
    return new Map(this.#select(where, JSON.stringify(ids)).map((task) => [task.id, task]))
  }

  ofJob(jobId: string): QueuedTask[] {
    return this.#select("where job_id = ?", jobId)
  }

  /** Tasks that hold a slot. */
  underWay(): QueuedTask[] {
    return this.#select("where state in ('starting', 'posting', 'running')")
  }

  /** Tasks of some states, in the order of their ids: the next after one. */
  nextIn(states: readonly QueuedTask["state"][], after: string, limit: number): QueuedTask[] {
    const list = states.map((state) => `'${state}'`).join(", ")
    return this.#select(`where id > ? and +state in (${list}) order by id limit ?`, after, limit)
  }

  /** Some tasks of a pool that wait for their inputs. */
  blockedIn(pool: string, limit: number): QueuedTask[] {
    return this.#select("where state = 'blocked' and pool = ? limit ?", pool, limit)
  }

  /** Tasks of a pool that could start now, in the order in which they are to. */
  ready(limit: number, now: number, pool: string): QueuedTask[] {
    return this.#select(
      // A comparison like that of the index of those that back off is planned anew for each value.
      `where state = 'ready' and pool = ? and (not_before <= ? or +not_before > ?)
       order by priority desc, id limit ?`,
      pool,
      now,
      now + BACKOFF_MS_MAX,
      limit,
    )
  }

  /** Ids that are not queued, or only by a row that is still to be removed. */
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

  /** Milliseconds until the first task that backs off may start; null where none does. */
  nextReadyIn(now: number): number | null {
    const [row] = this.#query<{ first: number | null }>(
      `select min(not_before) as first from queued_tasks
       where not_before > 0 and +not_before > ? and not_before <= ? and +state = 'ready'`,
      now,
      now + BACKOFF_MS_MAX,
    )
    return typeof row?.first === "number" ? row.first - now : null
  }

  /** Jobs that no runner has a task of, and of which a task waits since before a moment. */
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

  /** Since when the task waits that waits longest; null where none does. */
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
