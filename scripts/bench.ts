import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { benchAuth } from "./bench/auth.ts"
import { benchContainer } from "./bench/container.ts"
import { benchCost } from "./bench/cost/cost.ts"
import { benchCpu } from "./bench/cpu.ts"
import { benchCrowd } from "./bench/crowd.ts"
import { benchDashboard } from "./bench/dashboard/dashboard.ts"
import { benchDownload } from "./bench/download.ts"
import { benchBitrate } from "./bench/bitrate/bitrate.ts"
import { benchEncode } from "./bench/encode.ts"
import { benchFairness } from "./bench/fairness.ts"
import { benchFetch } from "./bench/fetch.ts"
import { formatFigures } from "./bench/figure.ts"
import type { Figure } from "./bench/figure.ts"
import { benchIdle } from "./bench/idle.ts"
import { benchImport } from "./bench/import.ts"
import { benchLayout } from "./bench/layout/layout.ts"
import { benchLimits } from "./bench/limits/limits.ts"
import { benchMemory } from "./bench/mixed/mixed.ts"
import { openBenchScope } from "./bench/scope.ts"
import type { BenchScope } from "./bench/scope.ts"
import { benchNormalize } from "./bench/normalize/normalize.ts"
import { benchPeers } from "./bench/peers/peers.ts"
import { benchPool } from "./bench/pool.ts"
import { benchQuality } from "./bench/quality/quality.ts"
import { benchRenditions } from "./bench/renditions/renditions.ts"
import { benchSandbox } from "./bench/sandbox.ts"
import { benchScale } from "./bench/scale/scale.ts"
import { benchShort } from "./bench/short/short.ts"
import { benchStart } from "./bench/start.ts"
import { benchSubmit } from "./bench/submit.ts"
import { benchTranscribe } from "./bench/transcribe/transcribe.ts"
import { benchUnknownKeys } from "./bench/unknown-keys.ts"
import { benchUpload } from "./bench/upload.ts"
import { benchWebhook } from "./bench/webhook.ts"
import { CliError, runScript } from "./local/cli-error.ts"
import { ensureSetUp } from "./setup.ts"

type Bench = {
  name: string
  run: (scope: BenchScope) => Promise<Figure[]>
  /** Runs only when named, since it installs or builds what nothing else needs, or takes minutes. */
  isOnlyNamed?: true
  /** How long it may take, where that is more than others may. */
  timeLimitMs?: number
}

const BENCH_MS_MAX = 180_000
const ALL_MS_MAX = 480_000
const BITRATE_MS_MAX = 900_000
const COST_MS_MAX = 900_000
const CPU_MS_MAX = 500_000
const CROWD_MS_MAX = 900_000
/** What a load takes beside its own time. */
const LOAD_MS_MORE = 120_000
const LOAD_SECONDS_MIN = 60
const LIMITS_SECONDS = 300
const MEMORY_SECONDS = 420
const NORMALIZE_MS_MAX = 600_000
const PEERS_MS_MAX = 900_000
const QUALITY_MS_MAX = 900_000
const RENDITIONS_MS_MAX = 600_000
/** What `scale` takes beside its load: it makes the accounts first, and waits for the last jobs then. */
const SCALE_MS_MORE = 900_000
const SHORT_MS_MAX = 600_000
/** Mostly of an hour of speech. */
const TRANSCRIBE_MS_MAX = 1_500_000

/**
 * Benchmarks by name, how long the load of `limits`, `memory` and `scale` lasts, some minutes unless
 * told, and of how many accounts and jobs a minute that of `scale` is.
 */
const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string" },
    accounts: { type: "string", default: "1000" },
    rate: { type: "string", default: "10000" },
  },
})
const limitsSeconds = Number(options.seconds ?? LIMITS_SECONDS)
const memorySeconds = Number(options.seconds ?? MEMORY_SECONDS)
const scale = {
  accounts: Number(options.accounts),
  rate: Number(options.rate),
  seconds: limitsSeconds,
}

const benches: Bench[] = [
  { name: "auth", run: benchAuth },
  { name: "keys", run: benchUnknownKeys, isOnlyNamed: true },
  { name: "submit", run: benchSubmit },
  { name: "start", run: benchStart },
  { name: "idle", run: benchIdle, isOnlyNamed: true },
  { name: "sandbox", run: benchSandbox },
  { name: "short", run: benchShort, timeLimitMs: SHORT_MS_MAX },
  { name: "bitrate", run: benchBitrate, isOnlyNamed: true, timeLimitMs: BITRATE_MS_MAX },
  { name: "encode", run: benchEncode },
  { name: "upload", run: benchUpload },
  { name: "download", run: benchDownload },
  { name: "import", run: benchImport },
  { name: "fetch", run: benchFetch },
  { name: "fairness", run: benchFairness },
  { name: "pool", run: benchPool },
  { name: "webhook", run: benchWebhook },
  { name: "dashboard", run: benchDashboard },
  { name: "layout", run: benchLayout },
  {
    name: "limits",
    run: (scope) => benchLimits(scope, limitsSeconds),
    isOnlyNamed: true,
    timeLimitMs: limitsSeconds * 1000 + LOAD_MS_MORE,
  },
  {
    name: "memory",
    run: (scope) => benchMemory(scope, memorySeconds),
    isOnlyNamed: true,
    timeLimitMs: memorySeconds * 1000 + LOAD_MS_MORE,
  },
  { name: "normalize", run: benchNormalize, isOnlyNamed: true, timeLimitMs: NORMALIZE_MS_MAX },
  { name: "peers", run: benchPeers, isOnlyNamed: true, timeLimitMs: PEERS_MS_MAX },
  { name: "quality", run: benchQuality, isOnlyNamed: true, timeLimitMs: QUALITY_MS_MAX },
  { name: "renditions", run: benchRenditions, isOnlyNamed: true, timeLimitMs: RENDITIONS_MS_MAX },
  {
    name: "transcribe",
    run: benchTranscribe,
    isOnlyNamed: true,
    timeLimitMs: TRANSCRIBE_MS_MAX,
  },
  { name: "container", run: benchContainer, isOnlyNamed: true },
  { name: "cost", run: benchCost, isOnlyNamed: true, timeLimitMs: COST_MS_MAX },
  { name: "cpu", run: benchCpu, isOnlyNamed: true, timeLimitMs: CPU_MS_MAX },
  {
    name: "scale",
    run: (scope) => benchScale(scope, scale),
    isOnlyNamed: true,
    timeLimitMs: scale.seconds * 1000 + SCALE_MS_MORE,
  },
  { name: "crowd", run: benchCrowd, isOnlyNamed: true, timeLimitMs: CROWD_MS_MAX },
]

await runScript(async () => {
  const chosen = chooseBenches(names)
  const areLong = chosen.some(({ name }) => name === "limits" || name === "memory")
  if (areLong && !(limitsSeconds >= LOAD_SECONDS_MIN)) {
    throw new CliError(`The load lasts --seconds=${LOAD_SECONDS_MIN} at least.`)
  }
  checkScale()
  await ensureSetUp()
  const endsAt = Date.now() + ALL_MS_MAX
  const figures: Figure[] = []
  for (const bench of chosen) {
    const timeLimitMs = bench.timeLimitMs ?? Math.min(BENCH_MS_MAX, endsAt - Date.now())
    figures.push(...(await runBench(bench, timeLimitMs)))
  }
  if (figures.length > 0) console.log(formatFigures(figures))
})
process.exit()

/** What one machine can hold, and a service of its own be asked. */
function checkScale(): void {
  const bounds = { accounts: 10_000, rate: 100_000, seconds: 3_600 }
  for (const name of ["accounts", "rate", "seconds"] as const) {
    const [value, max] = [scale[name], bounds[name]]
    if (Number.isInteger(value) && value >= 1 && value <= max) continue
    throw new CliError(`--${name} is a whole number from 1 to ${max}, not "${options[name]}".`)
  }
}

/** The figures of a benchmark; none where it failed, so that the others still run. */
async function runBench({ name, run }: Bench, timeLimitMs: number): Promise<Figure[]> {
  console.error(`Measuring ${name} ...`)
  const scope = openBenchScope()
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
