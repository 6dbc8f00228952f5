import { formatMib } from "./figure.ts"
import { familyBytes, findRunner, findWorkerd, residentBytes } from "./memory.ts"
import { median } from "./statistics.ts"

const SAMPLE_MS = 1000
const SAMPLES_OF_MEDIAN = 15
const SAMPLES_PER_LINE = 30

type Part = "start" | "workerd" | "runner"

export type ServiceMemory = {
  stop(): void
  /** The parts' medians of some seconds up to this one, in bytes. */
  partsAt(seconds: number): Record<Part, number>
  /** The same of their sum. */
  totalAt(seconds: number): number
  /** What all processes have now: the parts, and those that tools run in or wait in, in bytes. */
  allBytes(): number
}

/** Samples the resident memory of the parts of the service, without tools, and says it now and then. */
export function watchService(pid: number): ServiceMemory {
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
export function formatParts(parts: Record<Part, number>): string {
  return Object.entries(parts)
    .map(([name, bytes]) => `${name} ${formatMib(bytes)}`)
    .join(", ")
}

function sumOf({ start, workerd, runner }: Record<Part, number>): number {
  return start + workerd + runner
}
