import { makeSettings, readEnvironment } from "../../container/settings.ts"
import { describeSandbox, findTiers } from "../../container/sandbox/choose.ts"
import { launchArgv, runnerSandbox } from "../../container/sandbox/sandbox.ts"
import type { Tier } from "../../container/sandbox/tier.ts"
import { formatDifference, formatMs } from "./figure.ts"
import type { Figure } from "./figure.ts"
import type { BenchScope } from "./scope.ts"
import { runBare } from "./media.ts"
import { compareMedians, timeMs } from "./statistics.ts"
import { benchWaiting } from "./waiting.ts"
import { benchWatch } from "./watch.ts"

const ROUNDS = { warmUp: 5, counted: 40 }
const GOAL_MS = 10
const TOOL = "/bin/true"

/**
 * A process from its start to its end in each tier of the sandbox, and in one that waited for it; and
 * the watch over its workspace.
 */
export async function benchSandbox(scope: BenchScope): Promise<Figure[]> {
  const figures: Figure[] = []
  const tiers = await findTiers(makeSettings(readEnvironment({})))
  for (const tier of tiers) figures.push(await measureTier(scope, tier))
  const [strongest] = tiers
  if (strongest === "namespaces") figures.push(...(await benchWaiting(scope)))
  return strongest ? [...figures, ...(await benchWatch(scope, strongest))] : figures
}

async function measureTier(scope: BenchScope, tier: Tier): Promise<Figure> {
  const taskSandbox = runnerSandbox(describeSandbox(tier, makeSettings(readEnvironment({}))))
  const cwd = await scope.makeFolder()
  const order = { taskSandbox, tool: TOOL, argv: [], timeLimitMs: 10_000, access: "none" as const }
  const [tool, ...words] = launchArgv({ ...order, cwd: "/" })
  const { measured, reference } = await compareMedians(
    ROUNDS,
    () => timeMs(() => runBare(tool, words, cwd)),
    () => timeMs(() => runBare(TOOL, [], cwd)),
  )
  return {
    name: `sandbox: start of a process in ${tier}, p50`,
    measured: formatMs(measured),
    reference: `${formatMs(reference)} bare`,
    comparison: formatDifference(measured - reference, formatMs),
    goal: `<= +${GOAL_MS} ms`,
    isMet: measured - reference <= GOAL_MS,
  }
}
