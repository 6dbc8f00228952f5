/** A task as its dispatcher holds it; D1 says what is true, this says what was last done. */
export type HeldTask = {
  id: string
  jobId: string
  priority: number
  step: "blocked" | "waiting" | "starting" | "posting" | "running"
  fence: number | null
  slot: string | null
  grant: number | null
  leaseUntil: number
  /** A task that was taken back is not given out again before this moment. */
  notBefore: number
  boot: string | null
}

/** What a task lets go of when it waits again. */
export const FREED = {
  fence: null,
  slot: null,
  grant: null,
  boot: null,
  leaseUntil: 0,
  notBefore: 0,
}

export type NewHeldTask = Pick<HeldTask, "id" | "jobId" | "priority" | "step"> &
  Partial<Pick<HeldTask, "slot" | "grant" | "fence">>

/** A task newly held; only one that runs already has a slot, a grant and a fence. */
export function makeHeldTask(task: NewHeldTask, leaseUntil: number): HeldTask {
  const { id, jobId, priority, step, slot = null, grant = null, fence = null } = task
  const held = { ...FREED, id, jobId, priority, step, leaseUntil }
  return step === "running" ? { ...held, slot, grant, fence } : held
}

/** A plain runner's new process, whose old one is gone, or a container's that stopped. */
export type Gone = { boot: string } | { stopped: string }

/** Whether an accepted run went with its process. */
export function isLost(task: HeldTask, gone: Gone): boolean {
  if (task.boot === null) return false
  return "stopped" in gone ? task.boot === gone.stopped : task.boot !== gone.boot
}

/** Whether a runner may have the task already. */
export function isPosted(task: HeldTask): boolean {
  return task.step === "posting" || task.step === "running"
}

export type HeldTasks = ReturnType<typeof openHeldTasks>

/** The dispatcher's own table: tasks it holds, grants it has spent, and its last ask. */
export function openHeldTasks(sql: SqlStorage) {
  sql.exec(`create table if not exists held (
    id text primary key, job_id text not null, priority integer not null, step text not null,
    fence integer, slot text, grant_id integer, lease_until integer not null, not_before integer not null,
    boot text)`)
  sql.exec("create index if not exists held_order on held (step, priority desc, id)")
  sql.exec("create table if not exists spent (grant_id integer primary key)")
  sql.exec("create table if not exists facts (name text primary key, value text not null)")
  return { ...taskReads(sql), ...taskWrites(sql), ...grantTable(sql), ...factTable(sql) }
}

const COLUMNS = `id, job_id as jobId, priority, step, fence, slot, grant_id as "grant",
  lease_until as leaseUntil, not_before as notBefore, boot`

function taskReads(sql: SqlStorage) {
  function select(where: string, ...values: SqlStorageValue[]): HeldTask[] {
    return sql.exec<HeldTask>(`select ${COLUMNS} from held ${where}`, ...values).toArray()
  }
  return {
    find: (id: string) => select("where id = ?", id)[0] ?? null,
    all: () => select(""),
    ofJob: (jobId: string) => select("where job_id = ?", jobId),
    blocked: () => select("where step = 'blocked'"),
    /** Tasks that could start now, in the order in which they are to. */
    ready: (limit: number, now: number) =>
      select(
        "where step = 'waiting' and not_before <= ? order by priority desc, id limit ?",
        now,
        limit,
      ),
    /** Milliseconds until the first task that holds back may start; null where none does. */
    nextReadyIn(now: number): number | null {
      const { first } = sql
        .exec<{ first: number | null }>(
          "select min(not_before) as first from held where step = 'waiting' and not_before > ?",
          now,
        )
        .one()
      return first === null ? null : first - now
    },
    /** Tasks that hold a grant. */
    underWay: () => select("where step in ('starting', 'posting', 'running')"),
    isEmpty: () => sql.exec("select 1 from held limit 1").toArray().length === 0,
  }
}

function taskWrites(sql: SqlStorage) {
  return {
    /** Takes a task in; one that is held already stays as it is. True where it is new. */
    add(task: HeldTask): boolean {
      const { rowsWritten } = sql.exec(
        `insert into held (id, job_id, priority, step, fence, slot, grant_id, lease_until,
         not_before, boot) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
        task.id,
        task.jobId,
        task.priority,
        task.step,
        task.fence,
        task.slot,
        task.grant,
        task.leaseUntil,
        task.notBefore,
        task.boot,
      )
      return rowsWritten > 0
    },
    save(task: HeldTask): void {
      sql.exec(
        `update held set step = ?, fence = ?, slot = ?, grant_id = ?, lease_until = ?,
         not_before = ?, boot = ? where id = ?`,
        task.step,
        task.fence,
        task.slot,
        task.grant,
        task.leaseUntil,
        task.notBefore,
        task.boot,
        task.id,
      )
    },
    drop(id: string): void {
      sql.exec("delete from held where id = ?", id)
    },
  }
}

function grantTable(sql: SqlStorage) {
  return {
    spent: () => sql.exec<{ id: number }>("select grant_id as id from spent").toArray().map(idOf),
    spend(grant: number): void {
      sql.exec("insert or ignore into spent (grant_id) values (?)", grant)
    },
    /** Forgets spent grants that the pool has freed. */
    keepSpent(grants: number[]): void {
      sql.exec(
        "delete from spent where grant_id not in (select value from json_each(?))",
        JSON.stringify(grants),
      )
    },
  }
}

function factTable(sql: SqlStorage) {
  return {
    fact(name: string): string | null {
      const rows = sql.exec<{ value: string }>("select value from facts where name = ?", name)
      return rows.toArray()[0]?.value ?? null
    },
    note(name: string, value: string): void {
      sql.exec("insert or replace into facts (name, value) values (?, ?)", name, value)
    },
  }
}

function idOf(row: { id: number }): number {
  return row.id
}
