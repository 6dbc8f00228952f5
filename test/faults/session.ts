import { CAPACITY, openBed } from "./bed.ts"
import type { Bed } from "./bed.ts"
import { cancelJobs, submitBlockers } from "./submitted-jobs.ts"
import type { AcceptedBatch } from "./submitted-jobs.ts"
import { awaitEnds, checkAgain, checkBatch, checkOutputs } from "./checks.ts"
import type { EndedJob } from "./checks.ts"
import { findLeftovers } from "./leftovers.ts"
import type { Cell, Group } from "./cell.ts"
import { mountWorkDisk } from "./process-faults.ts"
import type { Tally } from "./tally.ts"
import { mountSmallDisk } from "../support/runner/small-disk.ts"

const NO_SMALL_DISK = "this user may not mount a small disk"
const AT_ONCE_MS_MAX = 20_000
const STATE_DISK_BYTES = 256 * 1024 * 1024

/** More often than by default, so that a session does not wait a minute for its last sweep. */
const SWEEP_SECONDS = 15

export type Session = { rounds: number; sweepSeconds?: number; signal?: AbortSignal }

/** Jobs of one cell, which are checked again after the last cell, and the batch that they form. */
type CellRun = { cell: Cell; ended: EndedJob[]; batch: AcceptedBatch | null }

/** Runs the cells of a group on one service, in this many rounds, and tallies the outcomes. */
export async function runGroup(
  group: Group,
  tally: Tally,
  { rounds, sweepSeconds = SWEEP_SECONDS, signal }: Session,
): Promise<void> {
  const lack = await group.findLack?.()
  if (typeof lack === "string") return skip(group, lack)
  using stateDisk = group.smallDisk === "state" ? mountSmallDisk(STATE_DISK_BYTES) : null
  if (group.smallDisk === "state" && !stateDisk) return skip(group, NO_SMALL_DISK)
  await using bed = await openBed({ SWEEP_SECONDS: String(sweepSeconds) }, stateDisk?.path)
  const workDisk = group.smallDisk === "workspaces" ? mountWorkDisk(bed) : null
  if (group.smallDisk === "workspaces" && !workDisk) return skip(group, NO_SMALL_DISK)
  try {
    await runRounds(bed, group, tally, { rounds, signal })
  } finally {
    workDisk?.unmount()
  }
}

function skip({ name }: Group, lack: string): void {
  console.error(`Skipped ${name}: ${lack}.`)
}

async function runRounds(
  bed: Bed,
  group: Group,
  tally: Tally,
  { rounds, signal }: { rounds: number; signal: AbortSignal | undefined },
): Promise<void> {
  const runs: CellRun[] = []
  for (let round = 0; round < rounds; round += 1) {
    const due = group.cells.filter((cell) => round % cell.everyRounds === 0)
    for (const cell of due) {
      signal?.throwIfAborted()
      runs.push(await runCell(bed, cell, tally))
    }
  }
  await checkAtEnd(bed, group, runs, tally)
}

async function runCell(bed: Bed, cell: Cell, tally: Tally): Promise<CellRun> {
  const row = tally.rowOf(cell.fault, cell.point)
  row.times += 1
  const rule = cell.makeRule && bed.proxy.addRule(cell.makeRule())
  const submitted = await cell.run(bed)
  const injectedAt = performance.now()
  const [, ended] = await Promise.all([cancelJobs(bed, submitted), awaitEnds(bed, submitted.all)])
  row.recoveryMsMax = Math.max(row.recoveryMsMax, performance.now() - injectedAt)
  rule?.remove()
  return { cell, ended: await checkOutputs(bed, ended), batch: submitted.batch ?? null }
}

async function checkAtEnd(bed: Bed, group: Group, runs: CellRun[], tally: Tally): Promise<void> {
  for (const { cell, ended, batch } of runs) {
    const row = tally.rowOf(cell.fault, cell.point)
    const wrong = [
      ...(await checkAgain(bed, ended)),
      ...(batch ? await checkBatch(bed, batch) : []),
    ]
    for (const kind of ["lost", "doubled"] as const) {
      row[kind] += new Set(
        wrong.filter((each) => each.kind === kind).map(({ jobId }) => jobId),
      ).size
    }
    for (const { why } of wrong) tally.addProblem(`${cell.fault}, ${cell.point}: ${why}`)
  }
  const row = tally.rowOf(group.name, "at the end")
  const left = [
    ...(await findLeftovers(bed)),
    ...bed.receiver.refused,
    ...(await findBusySlots(bed)),
  ]
  row.left += left.length
  for (const each of left) tally.addProblem(`${group.name}, at the end: ${each}`)
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
  return lastStart < firstEnd ? [] : ["a slot that was not free for new jobs"]
}
