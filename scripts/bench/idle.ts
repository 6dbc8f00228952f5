import { spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { makeChildEnvironment } from "../cli/environment.ts"
import { isServiceHealthy } from "../cli/health.ts"
import { findFreePort } from "../cli/ports.ts"
import { formatMib, formatMs } from "./figure.ts"
import type { BenchResult } from "./figure.ts"
import {
  readProcessTree,
  readProportionalBytes,
  readResidentBytes,
} from "../cli/processes/memory.ts"
import type { BenchResources } from "./scope.ts"
import { median } from "./statistics.ts"

const ROUNDS = 5
const POLL_MS = 10
const ANSWER_MS_MAX = 60_000
/** Wait until the self-test of the sandbox has ended and its memory is freed, in milliseconds. */
const REST_MS = 5000
const GOAL = { bytes: 450e6, ms: 1200 }
const BARE =
  'require("node:http").createServer((_, answer) => answer.end()).listen(process.env.PORT, "127.0.0.1")'

type Start = { ms: number; bytes: number; ownBytes: number; parts: string }

/**
 * Measures how long `npm start` takes until GET /v1/health responds 200, and the memory of all its
 * processes while the service is idle. Compares both with a minimal HTTP server of Node.js. The sum
 * of resident memory counts pages that several processes share several times. The last figure
 * divides shared pages among the processes.
 */
export async function benchIdle(scope: BenchResources): Promise<BenchResult[]> {
  const stateDir = await scope.makeFolder()
  const starts: Start[] = []
  const bare: Start[] = []
  // Ignores the first round, which creates the state folder and V8's code cache.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const service = await startOnce(["npm", "start"], "/v1/health", stateDir)
    const server = await startOnce([process.execPath, "-e", BARE], "/", stateDir)
    if (round === 0) continue
    starts.push(service)
    bare.push(server)
    console.error(`${formatMs(service.ms)}, ${formatMib(service.bytes)}: ${service.parts}`)
  }
  const [ms, bareMs] = [starts, bare].map((all) => median(all.map((start) => start.ms)))
  const [bytes, bareBytes] = [starts, bare].map((all) => median(all.map((start) => start.bytes)))
  const [ownBytes, bareOwnBytes] = [starts, bare].map((all) =>
    median(all.map((start) => start.ownBytes)),
  )
  return [
    figure("idle: start until the first answer", ms, bareMs, formatMs, GOAL.ms),
    figure("idle: memory of all processes", bytes, bareBytes, formatMib, GOAL.bytes),
    figure("idle: the same, shared pages by share", ownBytes, bareOwnBytes, formatMib, GOAL.bytes),
  ]
}

function figure(
  name: string,
  measured = 0,
  reference = 0,
  format: (value: number) => string,
  goal: number,
): BenchResult {
  return {
    name,
    measured: format(measured),
    reference: `${format(reference)} bare server of Node`,
    comparison: (measured / reference).toFixed(1),
    goal: `<= ${format(goal)}`,
    isMet: measured <= goal,
  }
}

async function startOnce(
  [program, ...words]: [string, ...string[]],
  path: string,
  stateDir: string,
): Promise<Start> {
  const port = await findFreePort()
  const startedAt = performance.now()
  const child = spawn(program, words, {
    env: { ...makeChildEnvironment(), PORT: String(port), STATE_DIR: stateDir },
    stdio: "ignore",
  })
  const { pid = 0 } = child
  try {
    const url = `http://127.0.0.1:${port}${path}`
    while (!(await isServiceHealthy({ url }))) {
      if (performance.now() - startedAt > ANSWER_MS_MAX) throw new Error(`${program} never answers`)
      await sleep(POLL_MS)
    }
    const ms = performance.now() - startedAt
    await sleep(REST_MS)
    const family = readProcessTree(pid).map((each) => ({
      ...each,
      bytes: readResidentBytes(each.pid) ?? 0,
    }))
    return {
      ms,
      bytes: family.reduce((sum, each) => sum + each.bytes, 0),
      ownBytes: family.reduce((sum, each) => sum + (readProportionalBytes(each.pid) ?? 0), 0),
      parts: family.map((each) => `${each.name} ${formatMib(each.bytes)}`).join(", "),
    }
  } finally {
    child.kill("SIGTERM")
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  }
}
