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
export type Held = {
  tasks: Map<string, Pick<QueuedTask, "state" | "fence" | "boot" | "leaseUntil">>
  /** Tasks that had a slot and left, whose rows are still there. */
  left: Set<string>
}

type Columns = readonly (readonly [column: string, field: keyof QueuedTask])[]

/** Columns of what may change of a task, with the fields that they have. */
export const CHANGING = [
  ["pool", "pool"],
  ["state", "state"],
  ["fence", "fence"],
  ["slot", "slot"],
  ["allocation", "allocation"],
  ["lease_until", "leaseUntil"],
  ["not_before", "notBefore"],
  ["waits_since", "waitsSince"],
  ["boot", "boot"],
] as const satisfies Columns

/** All columns. */
export const COLUMNS: Columns = [
  ["id", "id"],
  ["job_id", "jobId"],
  ["priority", "priority"],
  ["weight", "weight"],
  ["job_weight", "jobWeight"],
  ...CHANGING,
]

/** The columns of a queued task, by its fields' names. */
export const SELECTED = COLUMNS.map(([column, field]) => `${column} as ${field}`).join(", ")

/** The longest backoff; a task that is to wait longer was requeued by a clock that was ahead. */
export const BACKOFF_MS_MAX = 30_000

type Select = (where: string, ...values: SqlStorageValue[]) => QueuedTask[]

/** What is asked of queued tasks. */
export function openTaskReads(sql: SqlStorage, { tasks, left }: Held) {
  function select(where: string, ...values: SqlStorageValue[]): QueuedTask[] {
    const rows = sql.exec<QueuedTask>(`select ${SELECTED} from queued_tasks ${where}`, ...values)
    return rows.toArray().flatMap((task) => {
      return left.has(task.id) ? [] : [{ ...task, ...tasks.get(task.id) }]
    })
  }
  return {
    ...waitingReads(sql, select),
    find: (id: string) => select("where id = ?", id)[0] ?? null,
    /** Those of some ids that are queued, by their ids. */
    findAll(ids: readonly string[]): Map<string, QueuedTask> {
      if (ids.length === 0) return new Map()
      const where = "where id in (select value from json_each(?))"
      return new Map(select(where, JSON.stringify(ids)).map((task) => [task.id, task]))
    },
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
