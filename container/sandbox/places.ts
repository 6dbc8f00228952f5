import { log } from "../log.ts"
import type { RunnerSettings } from "../settings.ts"
import { findProgram } from "./paths.ts"
import type { PlacedTool } from "./place.ts"
import { placeAttacks } from "./place-attacks.ts"
import type { Place, Sandbox, TaskSandbox, WaitingForm } from "./sandbox.ts"
import { SHORT_ATTACK_NAMES, testSandbox } from "./self-test.ts"
import { hasNamespaces } from "./tier.ts"
import { closeTaskSandbox, prepareTaskSandbox } from "./task-sandbox.ts"

/**
 * Making a place stalls the runner, which starts processes for it. So the task that took one goes
 * first while some are left, for a while, and where none is, until it is under way.
 */
const REFILL_MS = { some: 250, none: 25 }

type Chosen = { sandbox: Sandbox; form: WaitingForm }
type Prepared = TaskSandbox & { place: Place }
type Pool = { tools: readonly PlacedTool[]; prepared: Prepared[]; wanted: number }

/** The sandboxes of tasks that have not come yet. */
export type Places = {
  /** Begins to prepare them, for a sandbox that passed its self-test; once. */
  open(sandbox: Sandbox): void
  /** A prepared sandbox for a task of this pool; null where the task has to make its own. */
  take(pool: string): TaskSandbox | null
  /** Gives up all that nobody has taken; resolves when they are gone. */
  close(): Promise<void>
}

/**
 * Prepares sandboxes for each pool whose tasks begin with a known tool: one until its first task, then
 * `settings.placesMax`, so that a service that nobody uses yet is small. What a task takes is made
 * again, one at a time. A sandbox that waits proves itself by its own self-test,
 * with tools that are loaded already or, where that fails, with launchers; without that, and without
 * namespaces, which are what takes long, there are none.
 */
export function openPlaces(settings: RunnerSettings): Places {
  const pools = makePools(settings)
  let chosen: Chosen | null = null
  let filling = Promise.resolve()
  let isFilling = false
  let wake = Promise.withResolvers<void>()
  let isClosed = false
  async function fill(): Promise<void> {
    for (let pool = findLeast(pools); chosen && !isClosed && pool; pool = findLeast(pools)) {
      pool.prepared.push(await prepare(chosen, settings.workDir, pool.tools))
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
      if (!hasNamespaces(sandbox.tier) || settings.placesMax === 0) return
      const started = performance.now()
      refill(async () => {
        const form = await chooseForm(sandbox, settings)
        chosen = { sandbox, form }
        const took = { took_ms: Math.round(performance.now() - started) }
        log("info", "places.tested", { waiting: form, ...took })
      })
    },
    take(name) {
      const pool = pools.get(name)
      if (!pool || chosen === null) return null
      pool.wanted = settings.placesMax
      const taken = pool.prepared.shift() ?? null
      refill(() => wake.promise)
      void taken?.place.over.then(() => wake.resolve())
      const delayMs = REFILL_MS[pool.prepared.length > 0 ? "some" : "none"]
      setTimeout(() => wake.resolve(), delayMs).unref()
      if (taken === null || taken.place.isIntact()) return taken
      void closeTaskSandbox(taken, null)
      return null
    },
    async close() {
      isClosed = true
      wake.resolve()
      await filling
      const left = [...pools.values()].flatMap((each) => each.prepared.splice(0))
      await Promise.all(left.map((each) => closeTaskSandbox(each, null)))
    },
  }
}

function makePools(settings: RunnerSettings): Map<string, Pool> {
  const tools = Object.entries(toolsOf(settings))
  return new Map(tools.map(([name, each]) => [name, { tools: each, prepared: [], wanted: 1 }]))
}

/** The pool that lacks places and has the fewest. */
function findLeast(pools: Map<string, Pool>): Pool | undefined {
  const short = [...pools.values()].filter((each) => each.prepared.length < each.wanted)
  return short.toSorted((one, other) => one.prepared.length - other.prepared.length)[0]
}

/** The tools that the tasks of a pool run first, in this order. */
function toolsOf({ toolPaths }: RunnerSettings): Record<string, PlacedTool[]> {
  const probe = { tool: toolPaths.ffprobe, access: "read" as const }
  return { light: [probe], media: [{ tool: toolPaths.ffmpeg, access: "write" }, probe] }
}

/** What does not get ready now would not at once after either, and throws. */
async function prepare(
  { sandbox, form }: Chosen,
  workDir: string,
  tools: readonly PlacedTool[],
): Promise<Prepared> {
  const made = await prepareTaskSandbox(sandbox, workDir, tools, form)
  if (await made.place.ready) return made
  await closeTaskSandbox(made, null)
  throw new Error("a sandbox that was to wait has ended")
}

/** What is to wait in sandboxes; throws where nothing does that holds. */
async function chooseForm(sandbox: Sandbox, settings: RunnerSettings): Promise<WaitingForm> {
  const loading = await findWaitingProblem(sandbox, settings, "tool")
  if (loading === null) return "tool"
  log("warn", "places.not_loaded", { problem: loading })
  const problem = await findWaitingProblem(sandbox, settings, "launcher")
  if (problem !== null) throw new Error(problem)
  return "launcher"
}

/** Why sandboxes in which this waits are not to be used, as a sentence; null where they hold. */
export async function findWaitingProblem(
  sandbox: Sandbox,
  { toolPaths, workDir }: Pick<RunnerSettings, "toolPaths" | "workDir">,
  form: WaitingForm,
): Promise<string | null> {
  await using placed = await placeAttacks(sandbox)
  const paths = { attackPath: placed.attack, ffmpegPath: findProgram(toolPaths.ffmpeg), workDir }
  const tested = {
    ...paths,
    attacks: SHORT_ATTACK_NAMES,
    waits: form,
    toolPaths: [toolPaths.ffprobe],
  }
  return (await testSandbox(sandbox, tested)).problem
}
