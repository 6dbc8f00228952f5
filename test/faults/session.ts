import { CAPACITY, openBed } from "./bed.ts"
import type { Bed } from "./bed.ts"
import { cancelJobs, submitBlockers } from "./batch.ts"
import { awaitEnds, checkAgain, checkOutputs } from "./checks.ts"
import type { Ended } from "./checks.ts"
import { findLeftovers } from "./leftovers.ts"
import type { Cell, Group } from "./plan.ts"
import { mountSmallDisk } from "./strikes.ts"
import type { Tally } from "./tally.ts"

const AT_ONCE_MS_MAX = 20_000

/** How often the sweep comes, so that a session need not wait a minute for its last pass. */
const SWEEP_SECONDS = 15

export type Session = { rounds: number; sweepSeconds?: number; signal?: AbortSignal }

/** Jobs of one fault, to be looked at once more when all faults have struck. */
type Struck = { cell: Cell; ended: Ended[] }

/** Lets the cells of a group strike one service, so many rounds long, and notes what came of it. */
export async function runGroup(
  group: Group,
  tally: Tally,
  { rounds, sweepSeconds = SWEEP_SECONDS, signal }: Session,
): Promise<void> {
  await using bed = await openBed({ SWEEP_SECONDS: String(sweepSeconds) })
  const disk = group.needsSmallDisk ? mountSmallDisk(bed) : null
  if (group.needsSmallDisk && !disk) {
    console.error(`Skipped ${group.name}: this user may not mount a small disk.`)
    return
  }
  try {
    await strikeAll(bed, group, tally, { rounds, signal })
  } finally {
    disk?.unmount()
  }
}

async function strikeAll(
  bed: Bed,
  group: Group,
  tally: Tally,
  { rounds, signal }: { rounds: number; signal: AbortSignal | undefined },
): Promise<void> {
  const struck: Struck[] = []
  for (let round = 0; round < rounds; round += 1) {
    const due = group.cells.filter((cell) => round % cell.everyRounds === 0)
    for (const cell of due) {
      signal?.throwIfAborted()
      struck.push(await strikeOnce(bed, cell, tally))
    }
  }
  await checkAtEnd(bed, group, struck, tally)
}

async function strikeOnce(bed: Bed, cell: Cell, tally: Tally): Promise<Struck> {
  const row = tally.rowOf(cell.fault, cell.step)
  row.times += 1
  const rule = cell.makeRule && bed.proxy.addRule(cell.makeRule())
  const batch = await cell.run(bed)
  const struckAt = performance.now()
  const [, ended] = await Promise.all([cancelJobs(bed, batch), awaitEnds(bed, batch.all)])
  row.recoveryMsMax = Math.max(row.recoveryMsMax, performance.now() - struckAt)
  rule?.remove()
  return { cell, ended: await checkOutputs(bed, ended) }
}

async function checkAtEnd(bed: Bed, group: Group, struck: Struck[], tally: Tally): Promise<void> {
  for (const { cell, ended } of struck) {
    const row = tally.rowOf(cell.fault, cell.step)
    const wrong = await checkAgain(bed, ended)
    for (const kind of ["lost", "doubled"] as const) {
      row[kind] += new Set(
        wrong.filter((each) => each.kind === kind).map(({ jobId }) => jobId),
      ).size
    }
    for (const { why } of wrong) tally.complain(`${cell.fault}, ${cell.step}: ${why}`)
  }
  const row = tally.rowOf(group.name, "at the end")
  const left = [
    ...(await findLeftovers(bed)),
    ...bed.receiver.refused,
    ...(await findBusySlots(bed)),
  ]
  row.left += left.length
  for (const each of left) tally.complain(`${group.name}, at the end: ${each}`)
}

/** Whether new jobs find every slot: they all run before the first of them is over. */
async function findBusySlots(bed: Bed): Promise<string[]> {
  const jobs = await submitBlockers(bed, CAPACITY)
  await awaitEnds(bed, jobs)
  const said = await Promise.all(
    jobs.map(async ({ id }) => {
      const [start, end] = await Promise.all(
        ["process.started", "task.ended"].map((event) =>
          bed.events.when(id, (each) => each.event === event, AT_ONCE_MS_MAX),
        ),
      )
      return { startedMs: start?.atMs ?? 0, endedMs: end?.atMs ?? 0 }
    }),
  )
  const lastStart = Math.max(...said.map(({ startedMs }) => startedMs))
  const firstEnd = Math.min(...said.map(({ endedMs }) => endedMs))
  return lastStart < firstEnd ? [] : ["a slot that new jobs did not find free"]
}
