import type { Env } from "../env.ts"
import type { HeldTask, HeldTasks } from "../storage/held-tasks.ts"

const READY_MAX = 100

/** An ask that changes nothing is not made again before this. */
const ASK_AGAIN_MS = 4_000

/** What an account last asked for without getting all of it; the pool pokes it when it may. */
export type OpenAsk = { using: string; at: number } | null

/**
 * Asks the pool for slots for an account's ready tasks and gives back those that are done. Answers
 * the tasks that got one, each with its slot and grant, already saved so.
 */
export async function askForSlots(
  env: Env,
  held: HeldTasks,
  { accountId, runningMax, open }: { accountId: string; runningMax: number; open: OpenAsk },
): Promise<{ started: HeldTask[]; open: OpenAsk }> {
  const underWay = held.underWay()
  const room = Math.min(READY_MAX, Math.max(0, runningMax - underWay.length))
  const want = held.ready(room, Date.now()).length
  const using = underWay.flatMap((task) => (task.grant === null ? [] : [task.grant]))
  const done = held.spent().filter((grant) => !using.includes(grant))
  // The pool goes on granting what it was last asked for, also where nobody wants it any more.
  if (want === 0 && done.length === 0 && held.fact("wanted") !== "some") {
    return { started: [], open: null }
  }
  const now = Date.now()
  const isAsked = open !== null && open.using === using.join() && now - open.at < ASK_AGAIN_MS
  if (isAsked && want > 0 && done.length === 0) return { started: [], open }
  held.note("wanted", "some")
  const ask = Math.max(Number(held.fact("ask") ?? 0) + 1, Date.now())
  held.note("ask", String(ask))
  const pool = env.POOL.getByName("media")
  const grants = await pool.ask({ accountId, ask, want, using, done })
  if (grants === null) return { started: [], open: null }
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
  const isShort = started.length < want
  return {
    started,
    open: isShort
      ? { using: [...using, ...started.map((task) => task.grant)].join(), at: now }
      : null,
  }
}
