import { spawn } from "node:child_process"
import { chmod } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { describeSandbox } from "../../container/sandbox/choose.ts"
import type { Place, TaskSandbox, WaitingForm } from "../../container/sandbox/sandbox.ts"
import type { ProcessSpec } from "../../container/sandbox/process.ts"
import { startProcess } from "../../container/sandbox/start.ts"
import { closeTaskSandbox, prepareTaskSandbox } from "../../container/sandbox/task-sandbox.ts"
import { makeSettings, readEnvironment } from "../../container/settings.ts"
import { formatDifference, formatMs } from "./figure.ts"
import type { Figure } from "./figure.ts"
import { runBare, tools } from "./media.ts"
import type { BenchScope } from "./scope.ts"
import { rotateMedians, timeMs } from "./statistics.ts"

const ROUNDS = { warmUp: 4, counted: 40 }
const PROGRAMS = [
  { what: "a process", tool: "/bin/true", argv: [], goalMs: 3 },
  // Its libraries are loaded before the order, and after it the pages of its data are still new.
  { what: "ffmpeg -version", tool: tools.ffmpeg, argv: ["-version"], goalMs: 0 },
]
/** What the end of another process leaves to be done is done by then. */
const SETTLE_MS = 20
const LOAD = "-v quiet -nostdin -f lavfi -i testsrc2=size=640x360 -c:v libx264 -f null -".split(" ")

/**
 * A tool from its order to its end where it waited for it, as the runner measures it, beside a bare
 * process, a launcher that waited and a cold start; on a machine that does nothing else, and beside
 * encodes on all cores.
 */
export async function benchWaiting(scope: BenchScope): Promise<Figure[]> {
  const quiet = await measureAll(scope, "")
  const loads = Array.from({ length: availableParallelism() }, () =>
    spawn(tools.ffmpeg, LOAD, { stdio: "ignore" }),
  )
  function stop(): void {
    for (const load of loads) load.kill("SIGKILL")
  }
  scope.defer(stop)
  const loaded = await measureAll(scope, ", beside encodes on all cores")
  stop()
  return [...quiet, ...loaded]
}

async function measureAll(scope: BenchScope, where: string): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const program of PROGRAMS) figures.push(await measure(scope, program, where))
  return figures
}

async function measure(
  scope: BenchScope,
  { what, tool, argv, goalMs }: (typeof PROGRAMS)[number],
  where: string,
): Promise<Figure> {
  const workDir = await scope.makeFolder()
  // The tool's user passes through it.
  await chmod(workDir, 0o711)
  const settings = makeSettings(readEnvironment({ WORK_DIR: workDir }))
  const sandbox = describeSandbox("namespaces", settings)
  const placed = { tool, access: "read" as const }
  async function timeTool(form: WaitingForm | null): Promise<number> {
    const prepared = await prepareTaskSandbox(
      sandbox,
      workDir,
      form ? [placed] : [],
      form ?? "tool",
    )
    if (!(await prepared.place.ready)) throw new Error("no sandbox waits")
    await sleep(SETTLE_MS)
    const ms = await timeMs(() => runTool({ ...placed, argv, taskSandbox: prepared }))
    if (form && prepared.place.countBegun() === 0) throw new Error("the tool had a cold start")
    await closeTaskSandbox(prepared, null)
    return ms
  }
  const medianOf = await rotateMedians(ROUNDS, {
    bare: async () => {
      await sleep(SETTLE_MS)
      return await timeMs(() => runBare(tool, argv, workDir))
    },
    tool: () => timeTool("tool"),
    launcher: () => timeTool("launcher"),
    cold: () => timeTool(null),
  })
  const [bare, waiting] = [medianOf("bare"), medianOf("tool")]
  const [launcher, cold] = [medianOf("launcher"), medianOf("cold")]
  return {
    name: `sandbox: ${what} that waited in one${where}, p50`,
    measured: formatMs(waiting),
    reference: `${formatMs(bare)} bare, ${formatMs(launcher)} by a launcher, ${formatMs(cold)} cold`,
    comparison: formatDifference(waiting - bare, formatMs),
    goal: `<= +${goalMs} ms`,
    isMet: waiting - bare <= goalMs,
  }
}

async function runTool(
  launch: Pick<ProcessSpec, "tool" | "argv" | "access"> & {
    taskSandbox: { place: Place } & TaskSandbox
  },
): Promise<void> {
  const { signal } = new AbortController()
  const spec = { ...launch, cwd: launch.taskSandbox.place.folder, timeLimitMs: 10_000, signal }
  const { exitCode } = await startProcess({ ...spec, stdoutBytesMax: 100 }).finished
  if (exitCode !== 0) throw new Error(`${launch.tool} ended with ${exitCode}`)
}
