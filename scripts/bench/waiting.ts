import { spawn } from "node:child_process"
import { chmod } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { describeSandbox } from "../../container/sandbox/choose.ts"
import type { TaskSandbox } from "../../container/sandbox/sandbox.ts"
import { startProcess } from "../../container/sandbox/start.ts"
import { closeTaskSandbox, prepareTaskSandbox } from "../../container/sandbox/task-sandbox.ts"
import { makeSettings, readEnvironment } from "../../container/settings.ts"
import { formatDifference, formatMs } from "./figure.ts"
import type { Figure } from "./figure.ts"
import { runBare, tools } from "./media.ts"
import type { BenchScope } from "./scope.ts"
import { rotateMedians, timeMs } from "./statistics.ts"

const ROUNDS = { warmUp: 6, counted: 60 }
const GOAL_MS = 3
const TOOL = { tool: "/bin/true", access: "read" as const }
/** What the end of another process leaves to be done is done by then. */
const SETTLE_MS = 20
const LOAD = "-v quiet -nostdin -f lavfi -i testsrc2=size=640x360 -c:v libx264 -f null -".split(" ")

/**
 * A tool from its order to its end in a sandbox that waited for it, as the runner measures it, beside
 * a bare process and a cold start; on a machine that does nothing else, and beside encodes on all cores.
 */
export async function benchWaiting(scope: BenchScope): Promise<Figure[]> {
  const quiet = await measure(scope, "that waited")
  const loads = Array.from({ length: availableParallelism() }, () =>
    spawn(tools.ffmpeg, LOAD, { stdio: "ignore" }),
  )
  function stop(): void {
    for (const load of loads) load.kill("SIGKILL")
  }
  scope.defer(stop)
  const loaded = await measure(scope, "that waited, beside encodes on all cores")
  stop()
  return [...quiet, ...loaded]
}

async function measure(scope: BenchScope, what: string): Promise<Figure[]> {
  const workDir = await scope.makeFolder()
  // The tool's user passes through it.
  await chmod(workDir, 0o711)
  const settings = makeSettings(readEnvironment({ WORK_DIR: workDir }))
  const sandbox = describeSandbox("namespaces", settings)
  async function timeTool(waits: boolean): Promise<number> {
    const prepared = await prepareTaskSandbox(sandbox, workDir, waits ? [TOOL] : [])
    if (!(await prepared.place.ready)) throw new Error("no sandbox waits")
    await sleep(SETTLE_MS)
    const ms = await timeMs(() => runTool(prepared, prepared.place.folder))
    if (waits && prepared.place.countBegun() === 0) throw new Error("the tool had a cold start")
    await closeTaskSandbox(prepared, null)
    return ms
  }
  const medianOf = await rotateMedians(ROUNDS, {
    bare: async () => {
      await sleep(SETTLE_MS)
      return await timeMs(() => runBare(TOOL.tool, [], workDir))
    },
    waiting: () => timeTool(true),
    cold: () => timeTool(false),
  })
  const [bare, waiting, cold] = [medianOf("bare"), medianOf("waiting"), medianOf("cold")]
  return [
    {
      name: `sandbox: a process in one ${what}, p50`,
      measured: formatMs(waiting),
      reference: `${formatMs(bare)} bare, ${formatMs(cold)} cold`,
      comparison: formatDifference(waiting - bare, formatMs),
      goal: `<= +${GOAL_MS} ms`,
      isMet: waiting - bare <= GOAL_MS,
    },
  ]
}

async function runTool(taskSandbox: TaskSandbox, cwd: string): Promise<void> {
  const { signal } = new AbortController()
  const spec = { ...TOOL, taskSandbox, cwd, argv: [], timeLimitMs: 10_000, signal }
  const { exitCode } = await startProcess({ ...spec, stdoutBytesMax: 100 }).finished
  if (exitCode !== 0) throw new Error(`${TOOL.tool} ended with ${exitCode}`)
}
