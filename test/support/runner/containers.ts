import { env } from "cloudflare:workers"
import type { TaskOrder } from "../../../src/contract/task.ts"
import type { Env } from "../../../src/bindings/env.ts"
import type { RunnerAnswer, SlotAllocation } from "../../../src/bindings/rpc.ts"

/**
 * Fake methods of the Durable Objects of containers and dispatchers, because these tests have no
 * containers.
 */
type Containers = {
  post?: (order: TaskOrder) => Promise<RunnerAnswer>
  end?: (slot: string, allocation: number) => Promise<boolean>
  /** Called when the run in a slot should end early, because another account waits for the slot. */
  handOver?: (allocation: Pick<SlotAllocation, "id" | "slot">) => void
  /**
   * Called with the account's id when the account's dispatcher (the Durable Object with its task
   * queue) is woken.
   */
  wake?: (accountId: string) => void
}

/** Returns an environment in which containers are the runners, with one container in each pool. */
export function makeContainerEnv({ post, end, handOver, wake }: Containers): Env {
  function getByName(slot: string) {
    return { post, end: (allocation: number) => end?.(slot, allocation) }
  }
  const dispatcher = {
    wake: async (accountId: string) => wake?.(accountId),
    handOver(_: string, { id, slot }: SlotAllocation) {
      handOver?.({ id, slot })
      return Promise.resolve(true)
    },
  }
  const DISPATCHER = { getByName: () => dispatcher }
  const others = { RUNNER_ORIGIN: undefined, RUNNER_INSTANCES: "1", DISPATCHER }
  const faked: object = { ...env, ...others, MEDIA_RUNNER: { getByName } }
  if (!isEnv(faked)) throw new Error("no environment")
  return faked
}

function isEnv(made: object): made is Env {
  return "MEDIA_RUNNER" in made && "DB" in made
}
