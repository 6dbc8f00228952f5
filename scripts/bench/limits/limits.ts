import { readFile } from "node:fs/promises"
import { openSite } from "../../../test/support/site/site.ts"
import { startServiceProcess } from "../../local/service-process.ts"
import { formatMib, formatRatio } from "../figure.ts"
import type { Figure } from "../figure.ts"
import { makeMedia, SMALL_MEDIA } from "../media.ts"
import type { BenchScope } from "../scope.ts"
import { watchService } from "../service-memory.ts"
import type { ServiceMemory } from "../service-memory.ts"
import { runCallers, runHastyReader } from "./callers.ts"
import type { Load } from "./callers.ts"

/** Two accounts of each. */
const PLANS = ["trial", "trial", "paid", "paid"]
/** So small that each of them is met again and again; what one plan is held to, the other is not. */
const LIMITS = {
  TRIAL_WAITING_JOBS_MAX: "10",
  TRIAL_RUNNING_JOBS_MAX: "1",
  PAID_REQUESTS_PER_MINUTE: "300",
  PAID_STORAGE_BYTES_MAX: String(1024 ** 2),
  PAID_FETCHES_PER_DAY: "20",
}
const LIMIT_CODES = [
  "429 rate_limit_exceeded",
  "429 job_limit_exceeded",
  "429 fetch_limit_exceeded",
  "403 storage_limit_exceeded",
]
/** How much of the time the first figure of memory is taken after; and by when all heaps are as large as they get. */
const EARLY_SHARE = 0.2
const LEVEL_SHARE = 0.7
const MEMORY_RATIO_MAX = 1.1

/** Mixed load at the plan's limits for so long: no answer is an error of ours, and memory is level. */
export async function benchLimits(scope: BenchScope, seconds: number): Promise<Figure[]> {
  const site = scope.use(await openSite())
  const folder = await scope.makeFolder()
  const settings = { ...LIMITS, ALLOWED_PRIVATE_HOSTS: site.host }
  const service = scope.use(await startServiceProcess({ settings, signal: scope.signal }))
  const keys = await Promise.all(
    PLANS.map((plan, index) => service.makeKey(`account-${index}`, plan)),
  )
  const endsAt = performance.now() + seconds * 1000
  const load: Load = {
    origin: service.origin,
    media: new Uint8Array(await readFile(await makeMedia(folder, "clip.mp4", SMALL_MEDIA))),
    pageUrl: site.url("/page/video"),
    isOver: () => performance.now() > endsAt || scope.signal.aborted,
    tally: new Map(),
  }
  const callers = Promise.all([
    ...keys.map((key) => runCallers(load, key)),
    runHastyReader(load, await service.makeKey("account-hasty", "paid")),
  ])
  const memory = watchService(service.pid)
  scope.defer(() => memory.stop())
  await callers
  memory.stop()
  return [
    countErrors(load.tally, seconds),
    compareMemory(memory, { seconds, share: EARLY_SHARE, ratioMax: null }),
    compareMemory(memory, { seconds, share: LEVEL_SHARE, ratioMax: MEMORY_RATIO_MAX }),
  ]
}

function countErrors(tally: Map<string, number>, seconds: number): Figure {
  const answers = [...tally].toSorted(([one], [other]) => (one < other ? -1 : 1))
  for (const [name, times] of answers) console.error(`${String(times).padStart(8)}  ${name}`)
  const total = answers.reduce((sum, [, times]) => sum + times, 0)
  const errors = answers.filter(([name]) => /^[05]/.test(name))
  const failed = errors.reduce((sum, [, times]) => sum + times, 0)
  const met = LIMIT_CODES.filter((code) => tally.has(code))
  return {
    name: `limits: answers of 5xx, or none, in ${seconds} s of mixed load at ${met.length} limits`,
    measured: String(failed),
    reference: `${total} answers`,
    comparison: "",
    goal: `0, and each of ${LIMIT_CODES.length} limits met`,
    isMet: failed === 0 && met.length === LIMIT_CODES.length,
  }
}

/** The memory at the end beside that after a share of the time. */
function compareMemory(
  memory: ServiceMemory,
  { seconds, share, ratioMax }: { seconds: number; share: number; ratioMax: number | null },
): Figure {
  const [earlier, last] = [memory.totalAt(seconds * share), memory.totalAt(seconds)]
  return {
    name: "limits: memory of the service at the end of it",
    measured: formatMib(last),
    reference: `${formatMib(earlier)} after ${Math.round(seconds * share)} s`,
    comparison: formatRatio(last / earlier),
    goal: ratioMax === null ? "" : `<= ${ratioMax} x`,
    isMet: ratioMax === null ? null : last <= ratioMax * earlier,
  }
}
