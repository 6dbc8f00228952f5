import type { Env } from "../../env.ts"
import { databaseOf } from "../../storage/database.ts"
import { listOpenAndReaders, listOpenTasks, listReaders } from "../../storage/open-tasks.ts"
import type { OpenTask, Readers } from "../../storage/open-tasks.ts"
import type { TaskQueue } from "../../storage/task-queue.ts"
import type { QueuedTask } from "../../storage/queued-tasks.ts"
import { adoptNext } from "./adopt.ts"
import { expireJobs } from "./expire.ts"
import type { openJobNotes } from "./job-notes.ts"
import { reconcileTasks } from "./reconcile.ts"
import { endUnstartable } from "./unstartable.ts"
import type { Walks } from "./walks.ts"

type Told = {
  walks: Walks
  notes: ReturnType<typeof openJobNotes>
  /** Removes a task from the queue; `killed` where its run is to be killed. */
  remove: (id: string, killed: boolean) => void
  /** The queue may have another first deadline. */
  onReconciled: (accountId: string) => Promise<void>
}

/** How a queue learns what D1 says of its tasks. */
export function openChecks(env: Env, queue: TaskQueue, told: Told) {
  const { walks, notes, remove } = told
  const looks = openLooks(env, queue, told)
  return {
    ...looks,
    /** Looks at those whose run may be over, and at some that wait, since a call may have been lost. */
    async lookAround(accountId: string): Promise<void> {
      const underWay = queue.underWay().map(({ id }) => id)
      await looks.look(accountId, [...underWay, ...walks.nextToCheck()], true)
    },
    /** Queues some of what D1 alone has. */
    async adopt(accountId: string): Promise<void> {
      const open = await adoptNext(databaseOf(env, accountId), queue, walks)
      for (const { jobId, isAccepted } of open) if (!isAccepted) notes.jobAccepted(jobId)
      notes.noteLater(accountId)
      await looks.reconcile(accountId, open)
    },
    /** Ends jobs that waited for too long. */
    async expire(accountId: string): Promise<void> {
      const over = await expireJobs(env, queue, accountId)
      for (const id of over) remove(id, true)
      if (over.length === 0) return
      walks.hurryFrom("blocked")
      await told.onReconciled(accountId)
    },
  }
}

function openLooks(env: Env, queue: TaskQueue, { walks, notes, remove, onReconciled }: Told) {
  async function reconcile(accountId: string, open: OpenTask[]): Promise<void> {
    const unstartable = reconcileTasks(queue, open, Date.now())
    const over = await endUnstartable(env, queue, accountId, unstartable)
    for (const id of over) remove(id, true)
    // Others may wait for what these were to make.
    if (over.length > 0) walks.hurryFrom("blocked")
    await onReconciled(accountId)
  }
  function removeClosed(ids: readonly string[], open: OpenTask[], killed: boolean): void {
    const openIds = new Set(open.map((task) => task.id))
    for (const id of ids) if (!openIds.has(id)) remove(id, killed)
  }
  async function reconcileReaders(accountId: string, { open, isWhole }: Readers): Promise<void> {
    if (!isWhole) walks.hurryFrom("blocked")
    await reconcile(accountId, open)
  }
  /** Looks in D1 for queued tasks: removes those that are over, and reconciles the others. */
  async function look(accountId: string, ids: readonly string[], killed: boolean): Promise<void> {
    if (ids.length === 0) return
    const open = await listOpenTasks(databaseOf(env, accountId), ids)
    removeClosed(ids, open, killed)
    const waiting = new Set(open.flatMap((task) => (task.jobState === "waiting" ? task.id : [])))
    const underWay = waiting.size > 0 ? queue.underWay() : []
    for (const task of underWay) {
      if (task.boot && waiting.has(task.id)) notes.taskTaken(accountId, task)
    }
    await reconcile(accountId, open)
  }
  return {
    reconcile,
    look,
    /** Looks at tasks that ended, some of them maybe, and at those that wait for files of their jobs. */
    async lookAfter(
      accountId: string,
      ended: { ids: string[]; ending: QueuedTask[]; over: boolean; killed: boolean },
    ): Promise<void> {
      const { ending, over, killed } = ended
      const unsure = over ? [] : ending.map(({ id }) => id)
      const ids = [...ended.ids, ...unsure]
      const jobIds = ending.map(({ jobId }) => jobId)
      if (ids.length === 0 || !queue.hasBlocked()) return await look(accountId, unsure, killed)
      const readers = await listOpenAndReaders(databaseOf(env, accountId), { ids, jobIds })
      removeClosed(unsure, readers.open, killed)
      await reconcileReaders(accountId, readers)
    },
    /** Looks at those that wait for files that were deleted. */
    async lookForFiles(accountId: string, fileIds: string[]): Promise<void> {
      if (queue.isEmpty()) return
      const readers = await listReaders(databaseOf(env, accountId), fileIds)
      await reconcileReaders(accountId, readers)
    },
  }
}
