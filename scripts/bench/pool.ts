import { join } from "node:path"
import { build } from "esbuild"
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare"
import { onlyFile } from "../build/programs.ts"
import { zodInEnglish } from "../build/zod-in-english.ts"
import { formatMs, formatRatio } from "./figure.ts"
import type { Figure } from "./figure.ts"
import { findWorkerd } from "./memory.ts"
import { cpuTimeOf } from "./process-time.ts"
import type { BenchScope } from "./scope.ts"
import { rotateMedians } from "./statistics.ts"

const SLOTS = 375
const FEW_SLOTS = 10
const CHANGES = 100
const ALL = 20
const ROUNDS = { warmUp: 2, counted: 8 }
const ASK_MS_MAX = 5

const POOL = join(import.meta.dirname, "../../src/pipeline/dispatch/pool.ts")

/** The real pool, and dispatchers that hear of it. Each account of a pool that is full holds one slot. */
const ENTRY = `import { DurableObject } from "cloudflare:workers"
import { Pool as RealPool } from ${JSON.stringify(POOL)}
export class Pool extends RealPool {
  constructor(ctx, env) {
    super(ctx, { ...env, RUNNER_CAPACITY: "${SLOTS}" })
  }
}
export class SmallPool extends RealPool {
  constructor(ctx, env) {
    super(ctx, { ...env, RUNNER_CAPACITY: "${FEW_SLOTS}" })
  }
}
export class Dispatcher extends DurableObject {
  async wake() {}
  async handOver() {
    return true
  }
}
let number = Date.now()
const held = new Map()
async function ask(pool, accountId, wanted, released = []) {
  number += 1
  const given = await pool.requestSlots("media", { accountId, number, wanted, inUse: [], released })
  held.set(accountId, given.map(({ id }) => id))
  if (given.length !== wanted) throw new Error(accountId + " got " + given.length)
}
export default {
  async fetch(request, env) {
    const [, name, what, count] = new URL(request.url).pathname.split("/")
    const slots = name === "POOL" ? ${SLOTS} : ${FEW_SLOTS}
    const spare = env[name].getByName("spare")
    if (what === "all") {
      for (let index = 0; index < Number(count); index += 1) {
        await ask(spare, "one" + index % 2, slots)
        await ask(spare, "one" + index % 2, 0, held.get("one" + index % 2))
      }
    }
    const pool = env[name].getByName("full")
    if (what === "fill") {
      for (let index = 0; index < slots; index += 1) await ask(pool, name + index, 1)
    }
    if (what === "change") {
      for (let index = 0; index < Number(count); index += 1) {
        const account = name + (index % slots)
        await ask(pool, account, 1, held.get(account))
      }
    }
    return new Response("ok")
  },
}`

/**
 * CPU time of an ask for slots in a pool of many beside one in a pool of few: one that changes a slot of a
 * full pool, and one that gets every slot at once or gives all back. The calls of
 * objects and what is written are in it; waits for the disk, which a busy machine has others for, are not.
 */
export async function benchPool(scope: BenchScope): Promise<Figure[]> {
  const miniflare = await startWorker(await scope.makeFolder())
  scope.defer(() => miniflare.dispose())
  const { origin } = await miniflare.ready
  const workerd = findWorkerd(process.pid)
  if (workerd === null) throw new Error("there is no /proc to look into")
  async function cpuMs(path: string): Promise<number> {
    const before = cpuTimeOf(workerd ?? 0).ownMs
    const answer = await fetch(`${origin}/${path}`)
    const text = await answer.text()
    if (!answer.ok) throw new Error(text)
    return cpuTimeOf(workerd ?? 0).ownMs - before
  }
  for (const pool of ["POOL", "SMALL_POOL"]) await cpuMs(`${pool}/fill`)
  const of = await rotateMedians(ROUNDS, {
    change: async () => (await cpuMs(`POOL/change/${CHANGES}`)) / CHANGES,
    changeFew: async () => (await cpuMs(`SMALL_POOL/change/${CHANGES}`)) / CHANGES,
    all: async () => (await cpuMs(`POOL/all/${ALL}`)) / (2 * ALL),
    allFew: async () => (await cpuMs(`SMALL_POOL/all/${ALL}`)) / (2 * ALL),
  })
  return [
    figure(`pool: an ask where all of ${SLOTS} slots are held, CPU`, of("change"), of("changeFew")),
    figure(`pool: an ask that gets, or gives back, ${SLOTS} slots, CPU`, of("all"), of("allFew")),
  ]
}

function figure(name: string, ms: number, fewMs: number): Figure {
  return {
    name,
    measured: formatMs(ms),
    reference: `${formatMs(fewMs)} at ${FEW_SLOTS} slots`,
    comparison: formatRatio(ms / fewMs),
    goal: `<= ${formatMs(ASK_MS_MAX)}`,
    isMet: ms <= ASK_MS_MAX,
  }
}

async function startWorker(stateDir: string): Promise<Miniflare> {
  const built = await build({
    stdin: { contents: ENTRY, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    logLevel: "warning",
    plugins: [zodInEnglish],
  })
  return new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      cf: false,
      logRequests: false,
      telemetry: { enabled: false },
      log: new Log(LogLevel.WARN),
      resourcePersistencePath: stateDir,
      workers: [
        {
          name: "pool",
          compatibilityDate: "2026-10-01",
          compatibilityFlags: ["nodejs_compat"],
          bindings: {
            LATHE_SECRET: "a-secret-of-a-benchmark-and-nothing-else",
            OPERATOR_TOKEN: "an-operator-token-of-a-benchmark-alone",
            RUNNER_ORIGIN: "http://127.0.0.1:9",
          },
          durableObjects: {
            POOL: { className: "Pool", useSQLite: true },
            SMALL_POOL: { className: "SmallPool", useSQLite: true },
            DISPATCHER: { className: "Dispatcher", useSQLite: true },
          },
          modules: [{ type: "ESModule", path: "index.js", contents: onlyFile(built).contents }],
        },
      ],
    }),
  )
}
