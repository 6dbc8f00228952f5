import {
  readProcessTreeBytes,
  findRunnerPid,
  findWorkerdPid,
  readResidentBytes,
} from "../../cli/processes/memory.ts"
import { formatMib } from "../figure.ts"
import type { BenchResult } from "../figure.ts"
import type { BenchResources } from "../scope.ts"
import { startBenchService } from "../service.ts"
import { median } from "../statistics.ts"
import { runMixedLoad } from "./callers.ts"
import type { MixedLoadCounts } from "./callers.ts"

const CALLERS = 8
const COMMANDS_PER_MINUTE = 250
const EARLY_SECONDS = 60
const GOAL_BYTES = 900e6
/**
 * Minimum share of the intended commands that must have run. With fewer commands, the measurement
 * is invalid.
 */
const PACE_SHARE_MIN = 0.9

const SAMPLE_MS = 1000
const SAMPLES_OF_MEDIAN = 15
const SAMPLES_PER_LINE = 30

/** Measures the memory of the service's processes after a mixed load of short jobs. */
export async function benchMemory(scope: BenchResources, seconds: number): Promise<BenchResult[]> {
  const service = await startBenchService(scope, {
    // The load includes a wrong command that ffmpeg itself must refuse. With the list of ffmpeg's
    // capabilities, the service would refuse the command before it runs.
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

/**
 * Compares the total memory of all processes at the end with the sum of their memory after the
 * first minute.
 */
function compareMemory(memory: ServiceMemory, seconds: number): BenchResult {
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

/**
 * Reports whether the load kept its pace, with the numbers of failed commands, uploads and
 * webhooks.
 */
function countWork(
  { commands, failed, uploads, webhooks }: MixedLoadCounts,
  seconds: number,
): BenchResult {
  const expectedCommands = (COMMANDS_PER_MINUTE * seconds) / 60
  return {
    name: "memory: commands of that load",
    measured: String(commands),
    reference: `${expectedCommands.toFixed(0)} at ${COMMANDS_PER_MINUTE} a minute`,
    comparison: `${failed} failed, ${uploads} uploads, ${webhooks} webhooks`,
    goal: `>= ${PACE_SHARE_MIN} of it`,
    isMet: commands >= PACE_SHARE_MIN * expectedCommands,
  }
}

type Part = "start" | "workerd" | "runner"

type ServiceMemory = {
  stop(): void
  /**
   * Returns each process's median memory in the 15 seconds that end `seconds` after the start of
   * the load, in bytes.
   */
  partsAt(seconds: number): Record<Part, number>
  /** Returns the sum of the numbers that `partsAt` returns for the same second, in bytes. */
  totalAt(seconds: number): number
  /** Returns the present memory of all processes in bytes, including tools and sandboxes. */
  allBytes(): number
}

/**
 * Samples the resident memory of the start script, workerd and the runner each second, and prints
 * every 30th sample.
 */
function watchService(pid: number): ServiceMemory {
  const samples: Record<Part, number>[] = []
  const pids = { workerd: findWorkerdPid(pid), runner: findRunnerPid(pid) }
  const timer = setInterval(() => {
    const sample = {
      start: readResidentBytes(pid) ?? 0,
      workerd: readResidentBytes(pids.workerd) ?? 0,
      runner: readResidentBytes(pids.runner) ?? 0,
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
    allBytes: () => readProcessTreeBytes(pid),
  }
}

/**
 * Formats the memory of the processes, for example as `start 70 MiB, workerd 300 MiB, runner 120
 * MiB`.
 */
function formatParts(parts: Record<Part, number>): string {
  return Object.entries(parts)
    .map(([name, bytes]) => `${name} ${formatMib(bytes)}`)
    .join(", ")
}

function sumOf({ start, workerd, runner }: Record<Part, number>): number {
  return start + workerd + runner
}
