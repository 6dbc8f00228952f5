import { availableParallelism } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import pMap from "p-map"
import type { Caller } from "../local/client/caller.ts"
import { formatDifference, formatMs, formatRatio } from "./figure.ts"
import type { Figure } from "./figure.ts"
import type { BenchScope } from "./scope.ts"
import { makeMedia } from "../local/client/media.ts"
import { findWorkerd } from "../local/processes/memory.ts"
import { countSyncs } from "../local/processes/process-time.ts"
import { listCommands, submitCommand, uploadMedia } from "../local/client/requests.ts"
import type { CommandOrder } from "../local/client/requests.ts"
import { startBenchService } from "./service.ts"
import { median, repeat, timeMs } from "./statistics.ts"

const LOOK_MS = 2000
const ROUNDS = 4
const ALONE_TIMES = 30
const TOGETHER_TIMES = 400
const CALLERS = 16
const SYNCED_TIMES = 160
const GOAL = { p50Ms: 4, perSecond: 450 }
/** Longer than it takes to submit everything on a slow machine. */
const HOLD_SECONDS = 30
const SETTLE_MS = 300
/** Open commands count as lost when none has ended for this long. */
const SILENCE_MS_MAX = 20_000
const DRAIN_MS_MAX = 75_000

/** How fast commands are accepted, compared with GET /v1/health, and that none of them is lost. */
export async function benchSubmit(scope: BenchScope): Promise<Figure[]> {
  const stateDir = await scope.makeFolder()
  const path = await makeMedia(await scope.makeFolder(), "tone.wav", "-f lavfi -i sine -t 0.1")
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

/** Occupies the only slot without load, so that no other command runs meanwhile. */
function holdOrder(): CommandOrder {
  const source = "-re -f lavfi -i anullsrc=sample_rate=8000"
  return {
    ffmpeg_command: `ffmpeg ${source} -t ${HOLD_SECONDS} {{out_1}}`,
    input_files: {},
    output_files: { out_1: "silence.wav" },
  }
}

type Compared = { measured: number; reference: number }

async function compareAlone(caller: Caller, submit: () => Promise<unknown>): Promise<Compared> {
  const submitMs: number[] = []
  const healthMs: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    // Lets background work of the commands end before the reference is measured.
    await sleep(SETTLE_MS)
    healthMs.push(...(await repeat(ALONE_TIMES, () => timeMs(() => askHealth(caller)))))
    submitMs.push(...(await repeat(ALONE_TIMES, () => timeMs(submit))))
  }
  return { measured: median(submitMs), reference: median(healthMs) }
}

async function compareTogether(caller: Caller, submit: () => Promise<unknown>): Promise<Compared> {
  const reference = await ratePerSecond(() => askHealth(caller))
  return { measured: await ratePerSecond(submit), reference }
}

async function ratePerSecond(work: () => Promise<unknown>): Promise<number> {
  const times = Array.from({ length: TOGETHER_TIMES })
  const elapsedMs = await timeMs(() => pMap(times, work, { concurrency: CALLERS }))
  return (TOGETHER_TIMES * 1000) / elapsedMs
}

/** How often workerd waits for the disk for each; null where that cannot be seen. */
async function countSyncsOf(pid: number, submit: () => Promise<unknown>): Promise<number | null> {
  const workerd = findWorkerd(pid)
  if (workerd === null) return null
  const times = Array.from({ length: SYNCED_TIMES })
  const syncs = await countSyncs(workerd, async () => {
    await pMap(times, submit, { concurrency: CALLERS })
    await sleep(SETTLE_MS)
  })
  return syncs === null ? null : syncs / SYNCED_TIMES
}

async function askHealth(caller: Caller): Promise<void> {
  await caller.ask("GET", "/v1/health")
}

function aloneFigure({ measured, reference }: Compared): Figure {
  return {
    name: "submit: POST /commands until 202, one caller, p50",
    measured: formatMs(measured),
    reference: `${formatMs(reference)} GET /health`,
    comparison: formatDifference(measured - reference, formatMs),
    goal: `<= ${GOAL.p50Ms} ms`,
    isMet: measured <= GOAL.p50Ms,
  }
}

function togetherFigure({ measured, reference }: Compared): Figure {
  return {
    name: `submit: commands a second, ${CALLERS} callers`,
    measured: `${measured.toFixed(0)} /s`,
    reference: `${reference.toFixed(0)} /s GET /health`,
    comparison: formatRatio(measured / reference),
    goal: `>= ${GOAL.perSecond} /s`,
    isMet: measured >= GOAL.perSecond,
  }
}

function syncsFigure(syncs: number | null): Figure {
  return {
    name: `submit: fsyncs a command, ${CALLERS} callers`,
    measured: syncs === null ? "no strace" : syncs.toFixed(2),
    reference: "",
    comparison: "",
    goal: "",
    isMet: null,
  }
}

async function lossFigure(caller: Caller, ids: string[]): Promise<Figure> {
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

/** Waits until no command is open; `isStill` says that open ones made no progress. */
async function drain(caller: Caller, ids: string[]) {
  const wanted = new Set(ids)
  const startedAt = Date.now()
  let [succeeded, open, movedAt] = [0, ids.length, startedAt]
  function isStill(): boolean {
    return open > 0 && Date.now() - movedAt > SILENCE_MS_MAX
  }
  while (open > 0 && !isStill() && Date.now() - startedAt < DRAIN_MS_MAX) {
    await sleep(LOOK_MS)
    const found = (await listCommands(caller)).filter(({ id }) => wanted.has(id))
    const nowOpen = found.filter(({ status }) => !["success", "failed"].includes(status)).length
    succeeded = found.filter(({ status }) => status === "success").length
    if (nowOpen !== open) movedAt = Date.now()
    open = nowOpen
  }
  return { succeeded, open, isStill: isStill() }
}
