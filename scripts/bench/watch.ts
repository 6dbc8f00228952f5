import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { openMeter } from "../../container/sandbox/meter.ts"
import type { Tier } from "../../container/sandbox/tier.ts"
import { DEFAULT_TOOL_LIMITS } from "../../container/settings.ts"
import { formatDifference, formatMs, formatRatio } from "./figure.ts"
import type { Figure } from "./figure.ts"
import { runBare } from "./media.ts"
import type { BenchScope } from "./scope.ts"
import { compareMedians, timeMs } from "./statistics.ts"

const ROUNDS = { warmUp: 5, counted: 40 }
const { workspaceFiles: FILES_MAX } = DEFAULT_TOOL_LIMITS
const FILE_COUNTS = [10, FILES_MAX]
const FIRST_GOAL_MS = 10

/** Looks of the watch over a workspace, beside ones that read each name in this process. */
export async function benchWatch(scope: BenchScope, tier: Tier): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const count of FILE_COUNTS) {
    const folder = await makeWorkspace(scope, count)
    figures.push(await measureLooks(scope, { tier, folder, count }))
    if (count === FILE_COUNTS[0]) figures.push(await measureFirst(tier, folder))
  }
  return figures
}

async function makeWorkspace(scope: BenchScope, count: number): Promise<string> {
  const folder = await scope.makeFolder()
  for (let index = 0; index < count; index += 1) await writeFile(join(folder, `${index}.ts`), "x")
  return folder
}

async function measureLooks(
  scope: BenchScope,
  { tier, folder, count }: { tier: Tier; folder: string; count: number },
): Promise<Figure> {
  const meter = openMeter(tier, folder, FILES_MAX)
  scope.defer(() => meter.close())
  const byNames = openMeter("none", folder, FILES_MAX)
  const { measured, reference } = await compareMedians(
    ROUNDS,
    () => timeMs(() => meter.measure()),
    () => timeMs(() => byNames.measure()),
  )
  return {
    name: `sandbox: a look at a workspace of ${count} files, p50`,
    measured: formatMs(measured),
    reference: `${formatMs(reference)} by names`,
    comparison: formatRatio(measured / reference),
    goal: "<= 1 x",
    isMet: measured <= reference,
  }
}

/** A run opens a meter of its own, which is a process. */
async function measureFirst(tier: Tier, folder: string): Promise<Figure> {
  async function lookOnce(): Promise<void> {
    const meter = openMeter(tier, folder, FILES_MAX)
    await meter.measure()
    meter.close()
  }
  const { measured, reference } = await compareMedians(
    ROUNDS,
    () => timeMs(lookOnce),
    () => timeMs(() => runBare("/bin/true", [], folder)),
  )
  return {
    name: "sandbox: the first look at a workspace, p50",
    measured: formatMs(measured),
    reference: `${formatMs(reference)} a bare process`,
    comparison: formatDifference(measured - reference, formatMs),
    goal: `<= +${FIRST_GOAL_MS} ms`,
    isMet: measured - reference <= FIRST_GOAL_MS,
  }
}
