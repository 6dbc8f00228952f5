import { availableParallelism } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import pMap from "p-map"
import type { ApiCaller } from "../cli/client/caller.ts"
import { formatDifference, formatMs, formatRatio } from "./figure.ts"
import type { BenchResult } from "./figure.ts"
import type { BenchResources } from "./scope.ts"
import { makeMediaFile } from "../cli/client/media.ts"
import { findWorkerdPid } from "../cli/processes/memory.ts"
import { countFsyncCalls } from "../cli/processes/process-time.ts"
import { listCommands, submitCommand, uploadMedia } from "../cli/client/requests.ts"
import type { NewCommandRequest } from "../cli/client/requests.ts"
import { startBenchService } from "./service.ts"
import { median, runRepeatedly, measureMs } from "./statistics.ts"

const LOOK_MS = 2000
const ROUNDS = 4
const ALONE_TIMES = 30
const TOGETHER_TIMES = 400
const CALLERS = 16
const SYNCED_TIMES = 160
const GOAL = { p50Ms: 4, perSecond: 450 }
/**
 * Duration of the command that keeps the only runner slot busy, so that no submitted command
 * starts. Exceeds the time of all submissions, even on a slow machine.
 */
const HOLD_SECONDS = 30
const SETTLE_MS = 300
/** Time in which no command ends, in milliseconds, after which all open commands count as lost. */
const SILENCE_MS_MAX = 20_000
const DRAIN_MS_MAX = 75_000

/**
 * Measures how fast commands are accepted, compares it with GET /v1/health, and counts accepted
 * commands that get lost by a restart.
 */
export async function benchSubmit(scope: BenchResources): Promise<BenchResult[]> {
  const stateDir = await scope.makeFolder()
  const path = await makeMediaFile(await scope.makeFolder(), "tone.wav", "-f lavfi -i sine -t 0.1")
  const service = await startBenchService(scope, { stateDir, runnerCapacity: 1 })
  const { caller } = service
  const fileId = await uploadMedia(caller, path)
  const order = {
    ffmpeg_command: "ffmpeg -i {{in_1}} -c copy {{out_1}}",
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: "copy.wav" },
  }
  const holder = await submitCommand(caller, holdOrder())
  await service.whenLogged("process.started", holder)

  const ids: string[] = []
  async function submit(): Promise<void> {
    ids.push(await submitCommand(caller, order))
  }
  const alone = await compareAlone(caller, submit)
  const together = await compareTogether(caller, submit)
  const syncs = await countSyncsOf(service.pid, submit)
  const stillHeld = (await listCommands(caller)).every(({ status }) => status !== "success")
  if (!stillHeld) throw new Error("the machine is too slow: commands ran while others were counted")

  await service.stop()
  const runnerCapacity = 2 * availableParallelism()
  const drained = await startBenchService(scope, { stateDir, runnerCapacity })
  return [
    aloneFigure(alone),
    togetherFigure(together),
    syncsFigure(syncs),
    await lossFigure(drained.caller, ids),
  ]
}

/**
 * Returns a command that keeps the only runner slot busy without CPU load, so that no other command
 * can run.
 */
function holdOrder(): NewCommandRequest {
  const source = "-re -f lavfi -i anullsrc=sample_rate=8000"
  return {
    ffmpeg_command: `ffmpeg ${source} -t ${HOLD_SECONDS} {{out_1}}`,
    input_files: {},
    output_files: { out_1: "silence.wav" },
  }
}

type Compared = { measured: number; reference: number }

async function compareAlone(caller: ApiCaller, submit: () => Promise<unknown>): Promise<Compared> {
  const submitMs: number[] = []
  const healthMs: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    // Waits for the background work of earlier submissions, which would slow the health requests
    // that serve as the reference.
    await sleep(SETTLE_MS)
    healthMs.push(...(await runRepeatedly(ALONE_TIMES, () => measureMs(() => askHealth(caller)))))
    submitMs.push(...(await runRepeatedly(ALONE_TIMES, () => measureMs(submit))))
  }
  return { measured: median(submitMs), reference: median(healthMs) }
}

async function compareTogether(
  caller: ApiCaller,
  submit: () => Promise<unknown>,
): Promise<Compared> {
  const reference = await ratePerSecond(() => askHealth(caller))
  return { measured: await ratePerSecond(submit), reference }
}

async function ratePerSecond(work: () => Promise<unknown>): Promise<number> {
  const times = Array.from({ length: TOGETHER_TIMES })
  const elapsedMs = await measureMs(() => pMap(times, work, { concurrency: CALLERS }))
  return (TOGETHER_TIMES * 1000) / elapsedMs
}

/**
 * Returns the number of fsync calls of workerd per command. Returns null if strace cannot trace
 * workerd.
 */
async function countSyncsOf(pid: number, submit: () => Promise<unknown>): Promise<number | null> {
  const workerd = findWorkerdPid(pid)
  if (workerd === null) return null
  const times = Array.from({ length: SYNCED_TIMES })
  const syncs = await countFsyncCalls(workerd, async () => {
    await pMap(times, submit, { concurrency: CALLERS })
    await sleep(SETTLE_MS)
  })
  return syncs === null ? null : syncs / SYNCED_TIMES
}

async function askHealth(caller: ApiCaller): Promise<void> {
  await caller.ask("GET", "/v1/health")
}

function aloneFigure({ measured, reference }: Compared): BenchResult {
  return {
    name: "submit: POST /commands until 202, one caller, p50",
    measured: formatMs(measured),
    reference: `${formatMs(reference)} GET /health`,
    comparison: formatDifference(measured - reference, formatMs),
    goal: `<= ${GOAL.p50Ms} ms`,
    isMet: measured <= GOAL.p50Ms,
  }
}

function togetherFigure({ measured, reference }: Compared): BenchResult {
  return {
    name: `submit: commands a second, ${CALLERS} callers`,
    measured: `${measured.toFixed(0)} /s`,
    reference: `${reference.toFixed(0)} /s GET /health`,
    comparison: formatRatio(measured / reference),
    goal: `>= ${GOAL.perSecond} /s`,
    isMet: measured >= GOAL.perSecond,
  }
}

function syncsFigure(syncs: number | null): BenchResult {
  return {
    name: `submit: fsyncs a command, ${CALLERS} callers`,
    measured: syncs === null ? "no strace" : syncs.toFixed(2),
    reference: "",
    comparison: "",
    goal: "",
    isMet: null,
  }
}

async function lossFigure(caller: ApiCaller, ids: string[]): Promise<BenchResult> {
  const { succeeded, open, isStill } = await drain(caller, ids)
  const lost = ids.length - succeeded - (isStill ? 0 : open)
  return {
    name: "submit: accepted commands that succeed, restart between",
    measured: String(succeeded),
    reference: `${ids.length} accepted`,
    comparison: `${lost} lost${open > 0 && !isStill ? `, ${open} not reached in time` : ""}`,
    goal: "0 lost",
    isMet: lost === 0 && open > 0 ? null : lost === 0,
  }
}

/**
 * Waits until no command is open, until no command has ended for `SILENCE_MS_MAX`, or until the
 * time limit. `isStill` returns true after such a silence.
 */
async function drain(caller: ApiCaller, ids: string[]) {
  const idSet = new Set(ids)
  const startedAt = Date.now()
  let [succeeded, open, movedAt] = [0, ids.length, startedAt]
  function isStill(): boolean {
    return open > 0 && Date.now() - movedAt > SILENCE_MS_MAX
  }
  while (open > 0 && !isStill() && Date.now() - startedAt < DRAIN_MS_MAX) {
    await sleep(LOOK_MS)
    const found = (await listCommands(caller)).filter(({ id }) => idSet.has(id))
    const nowOpen = found.filter(({ status }) => !["success", "failed"].includes(status)).length
    succeeded = found.filter(({ status }) => status === "success").length
    if (nowOpen !== open) movedAt = Date.now()
    open = nowOpen
  }
  return { succeeded, open, isStill: isStill() }
}
