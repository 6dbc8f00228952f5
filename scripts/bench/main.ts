import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { benchChains } from "./chains.ts"
import { benchCost } from "./cost/cost.ts"
import { benchDownload } from "./download.ts"
import { benchEncode } from "./encode.ts"
import { benchFairness } from "./fairness.ts"
import { formatBenchResults } from "./figure.ts"
import type { BenchResult } from "./figure.ts"
import { benchIdle } from "./idle.ts"
import { benchMemory } from "./memory/memory.ts"
import { benchNormalize } from "./normalize.ts"
import { createBenchResources } from "./scope.ts"
import type { BenchResources } from "./scope.ts"
import { benchScale } from "./scale/scale.ts"
import { benchShort } from "./short/short.ts"
import { benchSpeech } from "./speech/speech.ts"
import { benchSubmit } from "./submit.ts"
import { benchUpload } from "./upload.ts"
import { CliError, runScript } from "../cli/cli-error.ts"
import { ensureSetUp } from "../setup/main.ts"

type Bench = {
  name: string
  run: (scope: BenchResources) => Promise<BenchResult[]>
  /**
   * Whether the benchmark runs only when the user names it, because it takes minutes or installs
   * programs that nothing else needs.
   */
  isOnlyNamed?: true
  /** Time limit of the benchmark, if the default is too short. */
  timeLimitMs?: number
}

const BENCH_MS_MAX = 180_000
const COST_MS_MAX = 900_000
/**
 * Time by which the time limit of the benchmark `memory` exceeds the duration of its load, in
 * milliseconds.
 */
const LOAD_MS_MORE = 120_000
const MEMORY_SECONDS_MIN = 60
const NORMALIZE_MS_MAX = 600_000
/**
 * Time by which the time limit of the benchmark `scale` exceeds the duration of its load, in
 * milliseconds. Allows for the creation of accounts and the wait for the last jobs.
 */
const SCALE_MS_MORE = 900_000
const SHORT_MS_MAX = 600_000
const SPEECH_MS_MAX = 900_000

/**
 * Arguments of `npm run bench`: the names of benchmarks, the duration of the load of `memory` and
 * `scale`, and the accounts and the jobs per minute of `scale`.
 */
const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string" },
    accounts: { type: "string", default: "1000" },
    rate: { type: "string", default: "10000" },
  },
})
const memorySeconds = Number(options.seconds ?? 420)
const scale = {
  accounts: Number(options.accounts),
  rate: Number(options.rate),
  seconds: Number(options.seconds ?? 300),
}

const benches: Bench[] = [
  { name: "submit", run: benchSubmit },
  { name: "short", run: benchShort, timeLimitMs: SHORT_MS_MAX },
  { name: "upload", run: benchUpload },
  { name: "download", run: benchDownload },
  { name: "encode", run: benchEncode },
  { name: "fairness", run: benchFairness },
  { name: "chains", run: benchChains },
  { name: "idle", run: benchIdle, isOnlyNamed: true },
  {
    name: "memory",
    run: (scope) => benchMemory(scope, memorySeconds),
    isOnlyNamed: true,
    timeLimitMs: memorySeconds * 1000 + LOAD_MS_MORE,
  },
  { name: "cost", run: benchCost, isOnlyNamed: true, timeLimitMs: COST_MS_MAX },
  {
    name: "scale",
    run: (scope) => benchScale(scope, scale),
    isOnlyNamed: true,
    timeLimitMs: scale.seconds * 1000 + SCALE_MS_MORE,
  },
  { name: "speech", run: benchSpeech, isOnlyNamed: true, timeLimitMs: SPEECH_MS_MAX },
  { name: "normalize", run: benchNormalize, isOnlyNamed: true, timeLimitMs: NORMALIZE_MS_MAX },
]

await runScript(async () => {
  const chosen = chooseBenches(names)
  if (names.includes("memory") && !(memorySeconds >= MEMORY_SECONDS_MIN)) {
    throw new CliError(`The load lasts --seconds=${MEMORY_SECONDS_MIN} at least.`)
  }
  checkScale()
  await ensureSetUp()
  const figures: BenchResult[] = []
  for (const bench of chosen) figures.push(...(await runBench(bench)))
  if (figures.length > 0) console.log(formatBenchResults(figures))
})
process.exit()

/** Throws a CliError if the load of `scale` is zero or more than one machine can handle. */
function checkScale(): void {
  const bounds = { accounts: 10_000, rate: 100_000, seconds: 3_600 }
  for (const name of ["accounts", "rate", "seconds"] as const) {
    const [value, max] = [scale[name], bounds[name]]
    if (Number.isInteger(value) && value >= 1 && value <= max) continue
    throw new CliError(`--${name} is a whole number from 1 to ${max}, not "${options[name]}".`)
  }
}

/**
 * Runs a benchmark and returns its figures. Returns no figures if the benchmark fails, so that
 * further benchmarks still run.
 */
async function runBench({ name, run, timeLimitMs = BENCH_MS_MAX }: Bench): Promise<BenchResult[]> {
  console.error(`Measuring ${name} ...`)
  const scope = createBenchResources()
  function stopOnSignal(): void {
    void scope.close().then(() => process.exit(1))
  }
  process.on("SIGINT", stopOnSignal).on("SIGTERM", stopOnSignal).on("SIGHUP", stopOnSignal)
  try {
    return await Promise.race([run(scope), failLater(timeLimitMs)])
  } catch (error) {
    const reason = error instanceof CliError ? error.message : error
    console.error(`${name} could not be measured:`, reason)
    process.exitCode = 1
    return []
  } finally {
    await scope.close()
    process.off("SIGINT", stopOnSignal).off("SIGTERM", stopOnSignal).off("SIGHUP", stopOnSignal)
  }
}

async function failLater(ms: number): Promise<never> {
  await sleep(Math.max(0, ms), undefined, { ref: false })
  throw new Error(`it took longer than ${Math.round(ms / 1000)} s`)
}

function chooseBenches(names: string[]): Bench[] {
  const unknown = names.find((name) => benches.every((bench) => bench.name !== name))
  if (unknown !== undefined) {
    const known = benches.map((bench) => bench.name).join(", ")
    throw new CliError(`There is no benchmark "${unknown}"; there are ${known}.`)
  }
  return benches.filter(({ name, isOnlyNamed }) =>
    names.length > 0 ? names.includes(name) : !isOnlyNamed,
  )
}
