import { setTimeout as sleep } from "node:timers/promises"
import { log } from "../log.ts"
import type { RunnerSettings } from "../settings.ts"
import { findProgram } from "./paths.ts"
import type { PlacedTool } from "./place.ts"
import { placeAttacks } from "./place-attacks.ts"
import type { Sandbox, TaskSandbox } from "./sandbox.ts"
import { testSandbox } from "./self-test.ts"
import { closeTaskSandbox, prepareTaskSandbox } from "./task-sandbox.ts"

/** The task that took a place is under way before the next one is made. */
const REFILL_DELAY_MS = 25

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
 * Prepares `settings.placesMax` sandboxes for each pool whose tasks begin with a known tool. What a
 * task takes is made again, one at a time. A sandbox that waits proves itself by its own self-test;
 * without that, and without namespaces, which are what takes long, there are none.
 */
export function openPlaces(settings: RunnerSettings): Places {
  const ready = new Map<string, TaskSandbox[]>(
    Object.keys(toolsOf(settings)).map((name) => [name, []]),
  )
  let sandbox: Sandbox | null = null
  let filling = Promise.resolve()
  let isFilling = false
  let isClosed = false
  async function fill(chosen: Sandbox): Promise<void> {
    for (const [pool, tools] of Object.entries(toolsOf(settings))) {
      const prepared = ready.get(pool) ?? []
      while (!isClosed && prepared.length < settings.placesMax) {
        const made = await prepareTaskSandbox(chosen, settings.workDir, tools)
        // What does not get ready now would not at once after either.
        if (!(await made.place.ready)) {
          await closeTaskSandbox(made, null)
          throw new Error("a sandbox that was to wait has ended")
        }
        prepared.push(made)
      }
    }
  }
  function refill(chosen: Sandbox, first: () => Promise<unknown>): void {
    if (isFilling || isClosed) return
    isFilling = true
    filling = first()
      .then(() => fill(chosen))
      .catch((error: unknown) => log("warn", "places.not_filled", { error: String(error) }))
      .finally(() => {
        isFilling = false
      })
  }
  return {
    open(chosen) {
      if (chosen.tier !== "namespaces" || settings.placesMax === 0) return
      const started = performance.now()
      refill(chosen, async () => {
        const problem = await findWaitingProblem(chosen, settings)
        if (problem !== null) throw new Error(problem)
        sandbox = chosen
        log("info", "places.tested", { took_ms: Math.round(performance.now() - started) })
      })
    },
    take(pool) {
      const prepared = ready.get(pool)
      if (!prepared || sandbox === null) return null
      refill(sandbox, () => sleep(REFILL_DELAY_MS, undefined, { ref: false }))
      const taken = prepared.shift()
      if (taken === undefined || taken.place?.isIntact() === true) return taken ?? null
      void closeTaskSandbox(taken, null)
      return null
    },
    async close() {
      isClosed = true
      await filling
      const left = [...ready.values()].flatMap((each) => each.splice(0))
      await Promise.all(left.map((each) => closeTaskSandbox(each, null)))
    },
  }
}

/** The tools that the tasks of a pool run first, in this order. */
function toolsOf({ toolPaths }: RunnerSettings): Record<string, PlacedTool[]> {
  const probe = { tool: toolPaths.ffprobe, access: "read" as const }
  return { light: [probe], media: [{ tool: toolPaths.ffmpeg, access: "write" }, probe] }
}

/** Why sandboxes that wait are not to be used, as a sentence; null where they hold. */
export async function findWaitingProblem(
  sandbox: Sandbox,
  { toolPaths, workDir }: Pick<RunnerSettings, "toolPaths" | "workDir">,
): Promise<string | null> {
  await using placed = await placeAttacks(sandbox)
  const paths = { attackPath: placed.attack, ffmpegPath: findProgram(toolPaths.ffmpeg), workDir }
  return (await testSandbox(sandbox, { ...paths, waits: true })).problem
}
