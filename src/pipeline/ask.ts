import type { Env } from "../env.ts"
import type { HeldTask, HeldTasks } from "../storage/held-tasks.ts"

const READY_MAX = 100

/**
 * Asks the pool for slots for an account's ready tasks and gives back those that are done. Answers
 * the tasks that got one, each with its slot and grant, already saved so; `isOpen` where the pool
 * owes more and will say when it can give it.
 */
export async function askForSlots(
  env: Env,
  held: HeldTasks,
  { accountId, runningMax }: { accountId: string; runningMax: number },
): Promise<{ started: HeldTask[]; isOpen: boolean }> {
  const underWay = held.underWay()
  const room = Math.min(READY_MAX, Math.max(0, runningMax - underWay.length))
  const want = held.ready(room, Date.now()).length
  const using = underWay.flatMap((task) => (task.grant === null ? [] : [task.grant]))
  const done = held.spent().filter((grant) => !using.includes(grant))
  // The pool goes on granting what it was last asked for, also where nobody wants it any more.
  if (want === 0 && done.length === 0 && held.fact("wanted") !== "some") {
    return { started: [], isOpen: false }
  }
  held.note("wanted", "some")
  const ask = Math.max(Number(held.fact("ask") ?? 0) + 1, Date.now())
  held.note("ask", String(ask))
  const pool = env.POOL.getByName("media")
  const grants = await pool.ask({ accountId, ask, want, using, done })
  if (grants === null) return { started: [], isOpen: false }
  if (want === 0) held.note("wanted", "none")
  held.keepSpent(grants.map((grant) => grant.id))
  const spent = new Set(held.spent())
  const offers = grants.filter((grant) => !spent.has(grant.id))
  const started = held.ready(offers.length, Date.now()).flatMap((task, index) => {
    const grant = offers[index]
    if (!grant) return []
    held.spend(grant.id)
    const taken = { ...task, step: "starting" as const, slot: grant.slot, grant: grant.id }
    held.save(taken)
    return [taken]
  })
  return { started, isOpen: started.length < want }
}
