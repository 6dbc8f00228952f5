import { expect, it } from "vitest"
import { findSlotHandOver, decideSlotGrants } from "../../src/scheduler/fair-share.ts"
import type { PoolState } from "../../src/scheduler/fair-share.ts"
import { openRandom } from "../corpus/mutations.ts"

const POOLS = 40
const WAIT_MS = 30
const RUN_MS_MAX = 6 * WAIT_MS
const ARRIVALS_UNTIL = 600

type Job = { runMs: number; handOvers: number; ends: number }
type Run = { id: number; slot: string; accountId: string; job: Job; endsAt: number }
type Account = {
  accountId: string
  slotsShareMax: number
  runningMax: number
  queue: Job[]
  waitingSince: number
  turn: number
}

/** A pool over a virtual clock, driven as by the objects of the Worker. */
type Simulation = {
  random: () => number
  names: string[]
  lastHolders: Map<string, string>
  accounts: Account[]
  runs: Run[]
  kept: Set<number>
  now: number
}

it(`shares ${POOLS} pools so that no account starves and every job ends once`, () => {
  for (let seed = 1; seed <= POOLS; seed += 1) {
    const simulation = openSimulation(seed)
    const { accounts } = simulation
    const jobs: Job[] = []
    for (; simulation.now < ARRIVALS_UNTIL || isBusy(simulation); simulation.now += 1) {
      expect(simulation.now, `seed ${seed} never ends`).toBeLessThan(1_000_000)
      if (simulation.now < ARRIVALS_UNTIL) jobs.push(...addJobs(simulation))
      endRuns(simulation)
      share(simulation)
      handOver(simulation)
      for (const { accountId, waitingSince } of stateOf(simulation).waiting) {
        if (countHeld(simulation, accountId) > 0) continue
        const longest = accounts.length * RUN_MS_MAX
        expect(simulation.now - waitingSince, `seed ${seed}`).toBeLessThanOrEqual(longest)
      }
    }
    expect(jobs.every(({ ends, handOvers }) => ends === 1 && handOvers <= 1)).toBe(true)
  }
})

it("shares all free slots at once as it does one by one", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const state = makeState(seed)
    const shared = decideSlotGrants(state, 100).map(({ slot, accountId }) => ({ slot, accountId }))
    expect(shared, `seed ${seed}`).toEqual(shareOneByOne(state))
  }
})

function makeState(seed: number): PoolState {
  const random = openRandom(seed)
  function pick(count: number): number {
    return Math.floor(random() * count)
  }
  const accounts = Array.from({ length: 1 + pick(5) }, (_, index) => `account ${index}`)
  const names = Array.from({ length: 1 + pick(12) }, (_, index) => `s${index}`)
  function someone(): string {
    return accounts[pick(accounts.length)] ?? ""
  }
  const taken = names.filter(() => random() < 0.3)
  return {
    slotCount: names.length,
    free: names
      .filter((name) => !taken.includes(name))
      .map((name) => ({ name, lastHolder: random() < 0.3 ? null : someone() })),
    allocations: taken.map((slot, id) => ({ id, slot, accountId: someone() })),
    waiting: accounts.map((accountId) => ({
      accountId,
      number: 1,
      wanted: pick(6),
      waitingSince: 100_000 - pick(100_000),
      slotsShareMax: random() < 0.5 ? 0.5 : 1,
      heardAt: 0,
      turn: pick(10),
    })),
    now: 100_000,
  }
}

function shareOneByOne(from: PoolState): { slot: string; accountId: string }[] {
  const shared: { slot: string; accountId: string }[] = []
  let state = from
  for (let [next] = decideSlotGrants(state, 1); next; [next] = decideSlotGrants(state, 1)) {
    const { slot, accountId } = next
    const id = 100 + shared.length
    shared.push({ slot, accountId })
    state = {
      ...state,
      free: state.free.filter(({ name }) => name !== slot),
      allocations: [...state.allocations, { id, slot, accountId }],
      waiting: state.waiting.map((each) =>
        each.accountId === accountId
          ? { ...each, wanted: each.wanted - 1, turn: id, waitingSince: state.now }
          : each,
      ),
    }
  }
  return shared
}

function openSimulation(seed: number): Simulation {
  const random = openRandom(seed)
  const accounts = Array.from({ length: 2 + Math.floor(random() * 4) }, (_, index) => ({
    accountId: `account ${index}`,
    slotsShareMax: random() < 0.5 ? 0.5 : 1,
    runningMax: 1 + Math.floor(random() * 8),
    queue: [],
    waitingSince: 0,
    turn: 0,
  }))
  const names = Array.from({ length: 1 + Math.floor(random() * 6) }, (_, index) => `s${index}`)
  return { random, names, lastHolders: new Map(), accounts, runs: [], kept: new Set(), now: 1 }
}

function isBusy({ accounts, runs }: Simulation): boolean {
  return runs.length > 0 || accounts.some(({ queue }) => queue.length > 0)
}

function addJobs(simulation: Simulation): Job[] {
  const { random, accounts, now } = simulation
  return accounts.flatMap((account) => {
    if (random() > 0.05) return []
    // The run of a trial account ends within the time of a hand-over.
    const longest = account.slotsShareMax < 1 ? WAIT_MS : RUN_MS_MAX
    const job = { runMs: 1 + Math.floor(random() * longest), handOvers: 0, ends: 0 }
    if (wantedBy(simulation, account) === 0) account.waitingSince = now
    account.queue.push(job)
    return [job]
  })
}

function endRuns(simulation: Simulation): void {
  for (const run of simulation.runs.filter(({ endsAt }) => endsAt <= simulation.now)) {
    release(simulation, run)
    run.job.ends += 1
  }
}

function share(simulation: Simulation): void {
  const { accounts, names } = simulation
  for (;;) {
    const state = stateOf(simulation)
    const [next] = decideSlotGrants(state, 1)
    if (!next) break
    const account = accounts.find(({ accountId }) => accountId === next.accountId)
    const job = account?.queue.shift()
    if (!account || !job) throw new Error("nobody wants it")
    const held = countHeld(simulation, account.accountId)
    const others = state.waiting.filter(({ accountId }) => accountId !== account.accountId)
    expect(state.free.map(({ name }) => name)).toContain(next.slot)
    const needier = others.filter((other) => {
      const otherHeld = countHeld(simulation, other.accountId)
      return otherHeld < held && otherHeld < slotsMaxOf(simulation, other)
    })
    expect(needier).toEqual([])
    const slotsMax = others.length > 0 ? slotsMaxOf(simulation, account) : names.length
    expect(held).toBeLessThan(slotsMax)
    start(simulation, account, job, next.slot)
  }
  const { free, waiting } = stateOf(simulation)
  expect(new Set(simulation.runs.map(({ slot }) => slot)).size).toBe(names.length - free.length)
  // A slot stays free only if every waiting account has its share.
  if (free.length === 0 || waiting.length === 0) return
  for (const each of waiting) {
    expect(countHeld(simulation, each.accountId)).toBeGreaterThanOrEqual(
      slotsMaxOf(simulation, each),
    )
  }
}

/**
 * Performs due hand-overs, then checks that no account holds all slots while others wait, except
 * with runs that were handed over before.
 */
function handOver(simulation: Simulation): void {
  const { accounts, kept, names, now } = simulation
  const since = now - WAIT_MS
  for (;;) {
    const due = findSlotHandOver(stateOf(simulation), { waitMsMax: WAIT_MS, kept })
    const run = simulation.runs.find(({ id }) => id === due?.allocation.id)
    if (!due || !run || due.at > now) break
    if (run.job.handOvers > 0) kept.add(run.id)
    else {
      run.job.handOvers += 1
      release(simulation, run)
      accounts.find(({ accountId }) => accountId === run.accountId)?.queue.unshift(run.job)
      share(simulation)
    }
  }
  const { free, waiting } = stateOf(simulation)
  const holders = new Set(simulation.runs.map(({ accountId }) => accountId))
  const waited = waiting.filter(
    (each) => !holders.has(each.accountId) && each.waitingSince <= since,
  )
  if (names.length < 2 || free.length > 0 || holders.size > 1 || waited.length === 0) return
  expect(simulation.runs.every(({ job }) => job.handOvers === 1)).toBe(true)
}

function start(simulation: Simulation, account: Account, job: Job, slot: string): void {
  const id = 1 + Math.max(0, ...simulation.accounts.map(({ turn }) => turn))
  const { accountId } = account
  simulation.runs.push({ id, slot, accountId, job, endsAt: simulation.now + job.runMs })
  simulation.lastHolders.set(slot, accountId)
  account.turn = id
  account.waitingSince = simulation.now
}

function release(simulation: Simulation, run: Run): void {
  simulation.runs = simulation.runs.filter((other) => other !== run)
}

function wantedBy(simulation: Simulation, { accountId, queue, runningMax }: Account): number {
  return Math.min(queue.length, Math.max(0, runningMax - countHeld(simulation, accountId)))
}

function slotsMaxOf({ names }: Simulation, { slotsShareMax }: { slotsShareMax: number }): number {
  return Math.max(1, Math.floor(names.length * slotsShareMax))
}

function countHeld({ runs }: Simulation, accountId: string): number {
  return runs.filter((run) => run.accountId === accountId).length
}

function stateOf(simulation: Simulation): PoolState {
  const { accounts, lastHolders, names, runs, now } = simulation
  const taken = new Set(runs.map(({ slot }) => slot))
  return {
    slotCount: names.length,
    free: names
      .filter((name) => !taken.has(name))
      .map((name) => ({ name, lastHolder: lastHolders.get(name) ?? null })),
    allocations: runs.map(({ id, slot, accountId }) => ({ id, slot, accountId })),
    waiting: accounts
      .map((account) => ({
        ...account,
        number: 1,
        heardAt: now,
        wanted: wantedBy(simulation, account),
      }))
      .filter(({ wanted }) => wanted > 0),
    now,
  }
}
