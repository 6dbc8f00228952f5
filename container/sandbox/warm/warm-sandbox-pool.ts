import { log } from "../../log.ts"
import type { RunnerSettings } from "../../settings.ts"
import { findProgram } from "../system-paths.ts"
import type { WarmTool } from "./warm-sandbox.ts"
import { prepareSandboxAttackPrograms } from "../tiers/attack-programs.ts"
import type { WarmSandbox, Sandbox, TaskSandbox, WaitingProcessKind } from "../sandbox.ts"
import { STARTUP_SANDBOX_ATTACK_NAMES, testSandbox } from "../tiers/self-test.ts"
import { usesNamespaces } from "../tiers/tier.ts"
import { destroyTaskSandbox, createWarmTaskSandbox } from "../task-sandbox.ts"

/**
 * Delays before a pool is refilled with warm sandboxes, in milliseconds: `some` if warm sandboxes
 * are left, `none` if the pool is empty. The start of processes stalls the runner, so the task that
 * took a sandbox should begin first.
 */
const REFILL_MS = { some: 250, none: 25 }

type WarmChoice = { sandbox: Sandbox; form: WaitingProcessKind }
type PreparedSandbox = TaskSandbox & { warmSandbox: WarmSandbox }
type ToolPool = { tools: readonly WarmTool[]; prepared: PreparedSandbox[]; target: number }

/**
 * Warm sandboxes (workspaces with waiting processes) for future tasks, grouped by the runner pool
 * of the tasks.
 */
export type WarmSandboxPool = {
  /**
   * Starts to create warm sandboxes. Must be called once, with a sandbox that has passed its
   * self-test.
   */
  open(sandbox: Sandbox): void
  /**
   * Takes a warm sandbox for a task of the runner pool `pool`. Returns null if there is none; the
   * task must then open a new sandbox.
   */
  take(pool: string): TaskSandbox | null
  /** Discards all unused warm sandboxes. Resolves when these sandboxes are closed. */
  close(): Promise<void>
}

/**
 * Opens the warm sandboxes of a runner, for each pool whose tasks always begin with the same tool.
 * A pool has one warm sandbox until its first task, and then up to `settings.warmSandboxesMax`.
 * Sandboxes that tasks have taken are replaced one at a time. A self-test first decides which
 * processes wait: tools stopped before their `main()` or, if that test fails, launchers. If both
 * tests fail, no warm sandbox is created. Tiers without namespaces have no warm sandboxes, since
 * only the creation of namespaces takes long.
 */
export function createWarmSandboxPool(settings: RunnerSettings): WarmSandboxPool {
  const pools = makePools(settings)
  let choice: WarmChoice | null = null
  let filling = Promise.resolve()
  let isFilling = false
  let wake = Promise.withResolvers<void>()
  let isClosed = false
  async function fill(): Promise<void> {
    for (let pool = findLeast(pools); choice && !isClosed && pool; pool = findLeast(pools)) {
      pool.prepared.push(await prepare(choice, settings.workDir, pool.tools))
    }
  }
  function refill(first: () => Promise<unknown>): void {
    if (isFilling || isClosed) return
    isFilling = true
    wake = Promise.withResolvers()
    filling = first()
      .then(fill)
      .catch((error: unknown) => log("warn", "places.not_filled", { error: String(error) }))
      .finally(() => {
        isFilling = false
      })
  }
  return {
    open(sandbox) {
      if (!usesNamespaces(sandbox.tier) || settings.warmSandboxesMax === 0) return
      const started = performance.now()
      refill(async () => {
        const form = await chooseForm(sandbox, settings)
        choice = { sandbox, form }
        const took = { took_ms: Math.round(performance.now() - started) }
        log("info", "places.tested", { waiting: form, ...took })
      })
    },
    take(name) {
      const pool = pools.get(name)
      if (!pool || choice === null) return null
      pool.target = settings.warmSandboxesMax
      const prepared = pool.prepared.shift() ?? null
      refill(() => wake.promise)
      void prepared?.warmSandbox.discarded.then(() => wake.resolve())
      const delayMs = REFILL_MS[pool.prepared.length > 0 ? "some" : "none"]
      setTimeout(() => wake.resolve(), delayMs).unref()
      if (prepared === null || prepared.warmSandbox.isIntact()) return prepared
      void destroyTaskSandbox(prepared, null)
      return null
    },
    async close() {
      isClosed = true
      wake.resolve()
      await filling
      const left = [...pools.values()].flatMap((each) => each.prepared.splice(0))
      await Promise.all(left.map((each) => destroyTaskSandbox(each, null)))
    },
  }
}

function makePools(settings: RunnerSettings): Map<string, ToolPool> {
  const tools = Object.entries(toolsOf(settings))
  return new Map(tools.map(([name, each]) => [name, { tools: each, prepared: [], target: 1 }]))
}

/**
 * Returns the pool with the fewest warm sandboxes among the pools that need more warm sandboxes;
 * undefined if no pool needs more.
 */
function findLeast(pools: Map<string, ToolPool>): ToolPool | undefined {
  const short = [...pools.values()].filter((each) => each.prepared.length < each.target)
  return short.toSorted((one, other) => one.prepared.length - other.prepared.length)[0]
}

/** Returns the tools with which the tasks of each runner pool begin, in the order of use. */
function toolsOf({ toolPaths }: RunnerSettings): Record<string, WarmTool[]> {
  const probe = { tool: toolPaths.ffprobe, access: "read" as const }
  return { light: [probe], media: [{ tool: toolPaths.ffmpeg, access: "write" }, probe] }
}

/**
 * Starts a warm sandbox. Throws if the sandbox does not become ready, since a retry would hardly
 * succeed.
 */
async function prepare(
  { sandbox, form }: WarmChoice,
  workDir: string,
  tools: readonly WarmTool[],
): Promise<PreparedSandbox> {
  const prepared = await createWarmTaskSandbox(sandbox, workDir, tools, form)
  if (await prepared.warmSandbox.ready) return prepared
  await destroyTaskSandbox(prepared, null)
  throw new Error("a warm sandbox has ended")
}

/**
 * Returns the kind of waiting processes, tool or launcher, that passes the self-test. Throws if
 * both kinds fail.
 */
async function chooseForm(sandbox: Sandbox, settings: RunnerSettings): Promise<WaitingProcessKind> {
  const loading = await findWarmSandboxProblem(sandbox, settings, "tool")
  if (loading === null) return "tool"
  log("warn", "places.not_loaded", { problem: loading })
  const problem = await findWarmSandboxProblem(sandbox, settings, "launcher")
  if (problem !== null) throw new Error(problem)
  return "launcher"
}

/**
 * Returns the reason why warm sandboxes with this kind of waiting processes are unusable, as a
 * clause; null if such sandboxes pass the self-test.
 */
export async function findWarmSandboxProblem(
  sandbox: Sandbox,
  { toolPaths, workDir }: Pick<RunnerSettings, "toolPaths" | "workDir">,
  form: WaitingProcessKind,
): Promise<string | null> {
  await using programs = await prepareSandboxAttackPrograms(sandbox)
  const paths = { attackPath: programs.attack, ffmpegPath: findProgram(toolPaths.ffmpeg), workDir }
  const tested = {
    ...paths,
    attacks: STARTUP_SANDBOX_ATTACK_NAMES,
    heldForm: form,
    toolPaths: [toolPaths.ffprobe],
  }
  return (await testSandbox(sandbox, tested)).problem
}
