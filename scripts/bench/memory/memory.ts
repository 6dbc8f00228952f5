import {
  familyBytes,
  findRunner,
  findWorkerd,
  residentBytes,
} from "../../local/processes/memory.ts"
import { formatMib } from "../figure.ts"
import type { Figure } from "../figure.ts"
import type { BenchScope } from "../scope.ts"
import { startBenchService } from "../service.ts"
import { median } from "../statistics.ts"
import { runMixedLoad } from "./callers.ts"
import type { Tally } from "./callers.ts"

const CALLERS = 8
const COMMANDS_PER_MINUTE = 250
const EARLY_SECONDS = 60
const GOAL_BYTES = 900e6
/** The pace was held where so much of it was done. */
const PACE_SHARE_MIN = 0.9

const SAMPLE_MS = 1000
const SAMPLES_OF_MEDIAN = 15
const SAMPLES_PER_LINE = 30

/** What the processes of the service hold after so long a mixed load of short work. */
export async function benchMemory(scope: BenchScope, seconds: number): Promise<Figure[]> {
  const service = await startBenchService(scope, {
    // Without facts a command of the load is accepted, and fails as it runs.
    settings: { ALLOWED_PRIVATE_HOSTS: "127.0.0.1", FFMPEG_FACTS: "none" },
  })
  const names = Array.from({ length: CALLERS }, (_, index) => `caller-${index}`)
  const callers = await Promise.all(names.map((name) => service.openAccount(name)))
  const endsAt = performance.now() + seconds * 1000
  const memory = watchService(service.pid)
  scope.defer(() => memory.stop())
  const tally = await runMixedLoad(scope, {
    callers,
    commandsPerMinute: COMMANDS_PER_MINUTE,
    isOver: () => performance.now() > endsAt || scope.signal.aborted,
  })
  const figures = [compareMemory(memory, seconds), countWork(tally, seconds)]
  memory.stop()
  return figures
}

/** All processes at the end, once no tool runs any more, beside the parts' sum of earlier. */
function compareMemory(memory: ServiceMemory, seconds: number): Figure {
  const bytes = memory.allBytes()
  console.error(`after ${EARLY_SECONDS} s: ${formatParts(memory.partsAt(EARLY_SECONDS))}`)
  console.error(`after ${seconds} s: ${formatParts(memory.partsAt(seconds))}`)
  return {
    name: `memory: all processes after ${seconds} s of mixed load by ${CALLERS} callers`,
    measured: formatMib(bytes),
    reference: `${formatMib(memory.totalAt(EARLY_SECONDS))} after ${EARLY_SECONDS} s`,
    comparison: formatParts(memory.partsAt(seconds)),
    goal: `<= ${formatMib(GOAL_BYTES)}`,
    isMet: bytes > 0 && bytes <= GOAL_BYTES,
  }
}

/** Whether the load was one: commands at the pace, of which one sort fails, and their webhooks. */
function countWork({ commands, failed, uploads, webhooks }: Tally, seconds: number): Figure {
  const wanted = (COMMANDS_PER_MINUTE * seconds) / 60
  return {
    name: "memory: commands of that load",
    measured: String(commands),
    reference: `${wanted.toFixed(0)} at ${COMMANDS_PER_MINUTE} a minute`,
    comparison: `${failed} failed, ${uploads} uploads, ${webhooks} webhooks`,
    goal: `>= ${PACE_SHARE_MIN} of it`,
    isMet: commands >= PACE_SHARE_MIN * wanted,
  }
}

type Part = "start" | "workerd" | "runner"

type ServiceMemory = {
  stop(): void
  /** The parts' medians of some seconds up to this one, in bytes. */
  partsAt(seconds: number): Record<Part, number>
  /** The same of their sum. */
  totalAt(seconds: number): number
  /** What all processes have now: the parts, and those that tools run in or wait in, in bytes. */
  allBytes(): number
}

/** Samples the resident memory of the parts of the service, without tools, and says it now and then. */
function watchService(pid: number): ServiceMemory {
  const samples: Record<Part, number>[] = []
  const pids = { workerd: findWorkerd(pid), runner: findRunner(pid) }
  const timer = setInterval(() => {
    const sample = {
      start: residentBytes(pid) ?? 0,
      workerd: residentBytes(pids.workerd) ?? 0,
      runner: residentBytes(pids.runner) ?? 0,
    }
    samples.push(sample)
    if (samples.length % SAMPLES_PER_LINE !== 0) return
    console.error(`${samples.length} s: ${formatParts(sample)}`)
  }, SAMPLE_MS)
  function samplesTo(seconds: number): Record<Part, number>[] {
    const end = Math.min(samples.length, Math.round(seconds))
    return samples.slice(Math.max(0, end - SAMPLES_OF_MEDIAN), end)
  }
  return {
    stop: () => clearInterval(timer),
    partsAt(seconds) {
      const found = samplesTo(seconds)
      return {
        start: median(found.map(({ start }) => start)),
        workerd: median(found.map(({ workerd }) => workerd)),
        runner: median(found.map(({ runner }) => runner)),
      }
    },
    totalAt: (seconds) => median(samplesTo(seconds).map(sumOf)),
    allBytes: () => familyBytes(pid),
  }
}

/** The parts as `start 70 MiB, workerd 300 MiB, runner 120 MiB`. */
function formatParts(parts: Record<Part, number>): string {
  return Object.entries(parts)
    .map(([name, bytes]) => `${name} ${formatMib(bytes)}`)
    .join(", ")
}

function sumOf({ start, workerd, runner }: Record<Part, number>): number {
  return start + workerd + runner
}
