import type { AccountDatabase } from "../../storage/database.ts"
import { listOpenTasks, sumJobWeights } from "../../storage/open-tasks.ts"
import type { OpenTask } from "../../storage/open-tasks.ts"
import type { TaskQueue } from "../../storage/task-queue.ts"
import { adoptTasks } from "./reconcile.ts"
import type { Walks } from "./walks.ts"

/** The call or the message that queues a younger task may be on its way. */
const LATE_MS = 30_000

/**
 * Queues those of D1's next open tasks that are not queued yet, and answers them. Where one should have
 * been queued long ago, others may be lost too, and the walk hurries.
 */
export async function adoptNext(
  database: AccountDatabase,
  queue: TaskQueue,
  walks: Walks,
): Promise<OpenTask[]> {
  const from = walks.openMark()
  const ids = await walks.findUnknown(database)
  if (ids.length === 0) return []
  const open = await listOpenTasks(database, ids)
  const jobIds = [...new Set(open.map(({ jobId }) => jobId))]
  const weights = await sumJobWeights(database, jobIds)
  const now = Date.now()
  adoptTasks(queue, open, { weights, now })
  if (open.some(({ createdAt }) => createdAt < now - LATE_MS)) walks.hurryFrom("open", from)
  return open
}
