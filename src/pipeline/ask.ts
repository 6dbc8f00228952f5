import type { Env } from "../env.ts"
import type { HeldTask, HeldTasks } from "../storage/held-tasks.ts"

const READY_MAX = 100

/**
 * Asks the pool for slots for an account's ready tasks and gives back those that are done. Answers
 * the tasks that got one, each with its slot and grant, already saved so.
 */
export async function askForSlots(
  env: Env,
  held: HeldTasks,
  { accountId, runningMax }: { accountId: string; runningMax: number },
): Promise<HeldTask[]> {
  const underWay = held.underWay()
  const room = Math.min(READY_MAX, Math.max(0, runningMax - underWay.length))
  const want = held.ready(room, Date.now()).length
  const using = underWay.flatMap((task) => (task.grant === null ? [] : [task.grant]))
  const done = held.spent().filter((grant) => !using.includes(grant))
  if (want === 0 && done.length === 0) return []
  const ask = Math.max(Number(held.fact("ask") ?? 0) + 1, Date.now())
  held.note("ask", String(ask))
  const pool = env.POOL.getByName("media")
  const grants = await pool.ask({ accountId, ask, want, using, done })
  if (grants === null) return []
  held.keepSpent(grants.map((grant) => grant.id))
  const spent = new Set(held.spent())
  const offers = grants.filter((grant) => !spent.has(grant.id))
  return held.ready(offers.length, Date.now()).flatMap((task, index) => {
    const grant = offers[index]
    if (!grant) return []
    held.spend(grant.id)
    const started = { ...task, step: "starting" as const, slot: grant.slot, grant: grant.id }
    held.save(started)
    return [started]
  })
}
