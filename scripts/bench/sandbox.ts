import { makeSettings, readEnvironment } from "../../container/environment.ts"
import { describeSandbox, findTiers } from "../../container/sandbox/choose.ts"
import { launchWords } from "../../container/sandbox/launch.ts"
import { ownJail } from "../../container/sandbox/sandbox.ts"
import type { Tier } from "../../container/sandbox/sandbox.ts"
import { formatDifference, formatMs } from "./figure.ts"
import type { Figure } from "./figure.ts"
import type { Lab } from "./lab.ts"
import { runBare } from "./media.ts"
import { median, timeMs } from "./statistics.ts"

const TIMES = 40
const WARM_UP_TIMES = 5
const GOAL_MS = 10
const TOOL = "/bin/true"

/** From the start of a process to its end in each tier of the sandbox, beside a bare one. */
export async function benchSandbox(lab: Lab): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const tier of await findTiers()) figures.push(await measureTier(lab, tier))
  return figures
}

async function measureTier(lab: Lab, tier: Tier): Promise<Figure> {
  const jail = ownJail(describeSandbox(tier, makeSettings(readEnvironment({}))))
  const cwd = lab.makeFolder()
  const order = { jail, tool: TOOL, argv: [], timeLimitMs: 10_000, access: "none" as const }
  const [tool, ...words] = launchWords({ ...order, cwd: "/" })
  const measuredMs: number[] = []
  const bareMs: number[] = []
  for (let time = -WARM_UP_TIMES; time < TIMES; time += 1) {
    const startedMs = await timeMs(() => runBare(tool, words, cwd))
    const spawnedMs = await timeMs(() => runBare(TOOL, [], cwd))
    if (time < 0) continue
    measuredMs.push(startedMs)
    bareMs.push(spawnedMs)
  }
  const [measured, bare] = [median(measuredMs), median(bareMs)]
  return {
    name: `sandbox: start of a process in ${tier}, p50`,
    measured: formatMs(measured),
    reference: `${formatMs(bare)} bare`,
    comparison: formatDifference(measured - bare, formatMs),
    goal: `<= +${GOAL_MS} ms`,
    isMet: measured - bare <= GOAL_MS,
  }
}
