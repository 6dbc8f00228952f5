import type { Env } from "../bindings/env.ts"
import { logError } from "../platform/log.ts"
import { getDispatcher } from "../bindings/durable-objects.ts"
import type { TaskMessage } from "../bindings/rpc.ts"

/** Message of the JOBS queue with the tasks of a new job. */
export type JobMessage = { accountId: string; tasks: TaskMessage[] }

/**
 * Passes the tasks of a new job to the account's dispatcher. If the call fails, sends a JOBS
 * message, whose consumer repeats the call. If both are lost, the sweep finds the job later.
 */
export async function enqueueJob(env: Env, message: JobMessage): Promise<void> {
  const { accountId, tasks } = message
  try {
    await getDispatcher(env, accountId).accept(accountId, tasks)
  } catch (error) {
    logError("dispatcher.accept_failed", { account_id: accountId, error: String(error) })
    await env.JOBS.send(message)
  }
}

/**
 * Collects the items of all `add` calls in one turn of the event loop, and passes them together to
 * the `work` of the first call, so that a Durable Object waits for its storage only once. If `work`
 * fails, every `add` of the turn rejects.
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
