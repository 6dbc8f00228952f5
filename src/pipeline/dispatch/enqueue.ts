import type { Env } from "../../env.ts"
import { logError } from "../../log.ts"
import { dispatcherOf } from "../../placement.ts"
import type { TaskMessage } from "../../rpc.ts"

/** A JOBS message: the tasks of a job that was just made; D1 has the rest. */
export type JobMessage = { accountId: string; tasks: TaskMessage[] }

/**
 * Enqueues the tasks of a job that was just made with its dispatcher. Where that one cannot be reached
 * now, a JOBS message does it, which is tried again. A lost call or message costs time only: the sweep
 * finds the job.
 */
export async function enqueueJob(env: Env, message: JobMessage): Promise<void> {
  const { accountId, tasks } = message
  try {
    await dispatcherOf(env, accountId).accept(accountId, tasks)
  } catch (error) {
    logError("dispatcher.accept_failed", { account_id: accountId, error: String(error) })
    await env.JOBS.send(message)
  }
}

/**
 * Batches the items of one round of the event loop for one piece of work, that of the first call, so that
 * an object waits for the disk once for all of them. Each call fails where that work does.
 */
export class MicroBatch<Item> {
  #items: Item[] = []
  #done: Promise<void> | null = null

  async add(item: Item, work: (items: readonly Item[]) => Promise<void>): Promise<void> {
    this.#items.push(item)
    this.#done ??= scheduler.wait(0).then(async () => {
      const items = this.#items
      this.#items = []
      this.#done = null
      await work(items)
    })
    await this.#done
  }
}
