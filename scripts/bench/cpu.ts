import { basename } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import pMap from "p-map"
import type { Figure } from "./figure.ts"
import { formatMs, formatRatio } from "./figure.ts"
import { makeMedia, readMedia, runBare, SMALL_MEDIA, tools } from "./media.ts"
import { findRunner, findWorkerd } from "./memory.ts"
import { countSyncs, cpuTimeOf } from "./process-time.ts"
import { uploadFile } from "./requests.ts"
import type { BenchScope } from "./scope.ts"
import { startBenchService } from "./service.ts"
import { repeat } from "./statistics.ts"

const WARM_UP = 50
const PROBES = 200
const CALLERS = 8
const SYNCED_PROBES = 20
const BARE_PROBES = 20
const SETTLE_MS = 1_000
const WORDS = "-v error -print_format json -show_format -show_streams -i".split(" ")

/** What an upload with its probe costs: CPU time by process, and how often the disk is waited for. */
export async function benchCpu(scope: BenchScope): Promise<Figure[]> {
  const folder = await scope.makeFolder()
  const path = await makeMedia(folder, "small.mp4", SMALL_MEDIA)
  const media = await readMedia(path)
  const { caller, pid } = await startBenchService(scope)
  async function probe(): Promise<void> {
    const { ffprobe } = await uploadFile(caller, "small.mp4", media, { prefer: "wait=30" })
    if (!ffprobe) throw new Error("a file that was probed has no ffprobe")
  }
  async function probeMany(times: number): Promise<void> {
    await pMap(Array.from({ length: times }), probe, { concurrency: CALLERS })
    // What is done after the answers belongs to them too.
    await sleep(SETTLE_MS)
  }
  const bareMs = await cpuOfBareProbe(folder, basename(path))
  await probeMany(WARM_UP)
  const [workerd, runner] = [findWorkerd(pid), findRunner(pid)]
  if (workerd === null || runner === null) throw new Error("there is no /proc to look into")
  const before = readTimes({ workerd, runner, start: pid })
  await probeMany(PROBES)
  const after = readTimes({ workerd, runner, start: pid })
  const syncs = await countSyncs(workerd, async () => {
    await repeat(SYNCED_PROBES, probe)
    await sleep(SETTLE_MS)
  })
  return [
    ...PARTS.map((name) => {
      const ms = (after[name] - before[name]) / PROBES
      return {
        name: `cpu: a probe, ${name}`,
        measured: formatMs(ms),
        reference: `${formatMs(bareMs)} bare ffprobe`,
        comparison: formatRatio(ms / bareMs),
        goal: "",
        isMet: null,
      }
    }),
    {
      name: "cpu: fsyncs of a probe, workerd",
      measured: syncs === null ? "no strace" : (syncs / SYNCED_PROBES).toFixed(1),
      reference: "",
      comparison: "",
      goal: "",
      isMet: null,
    },
  ]
}

const PARTS = ["workerd", "start script", "runner", "tools", "all"] as const
type Times = Record<(typeof PARTS)[number], number>

/** CPU time so far, in milliseconds; the front is a thread of the start script. */
function readTimes(pids: { workerd: number; runner: number; start: number }): Times {
  const workerd = cpuTimeOf(pids.workerd).ownMs
  const start = cpuTimeOf(pids.start).ownMs
  const { ownMs: runner, childrenMs: tools } = cpuTimeOf(pids.runner)
  return { workerd, "start script": start, runner, tools, all: workerd + start + runner + tools }
}

async function cpuOfBareProbe(folder: string, name: string): Promise<number> {
  const before = cpuTimeOf(process.pid).childrenMs
  await repeat(BARE_PROBES, () => runBare(tools.ffprobe, [...WORDS, `file:${name}`], folder))
  return (cpuTimeOf(process.pid).childrenMs - before) / BARE_PROBES
}
