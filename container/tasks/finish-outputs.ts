import type { OutputReport } from "../../src/contract/report.ts"
import type { TaskOutput } from "../../src/contract/task.ts"
import type { Warning } from "../../src/contract/warning.ts"
import type { TaskFailure } from "../failures.ts"
import type { FinishedRun } from "../tools/run-ffmpeg.ts"
import { isBundleEmpty } from "./bundle-content.ts"
import { gatherBundles } from "./gather-bundles.ts"
import { emptyBundle, judgeOutputs } from "./judge-outputs.ts"
import { findOutputFailure, storeOutputs } from "./outputs.ts"
import type { RunContext } from "./run-context.ts"

/**
 * Stores what a task's commands made and judges it: fails where an output is missing, or was to
 * hold a picture or sound and holds none; warns of what is odd. `runs` are the commands, all of
 * which succeeded.
 */
export async function finishOutputs(
  context: RunContext,
  outputs: readonly TaskOutput[],
  runs: readonly FinishedRun[],
): Promise<{ outputs: OutputReport[]; warnings: Warning[] } | TaskFailure> {
  const missing = findOutputFailure(context.workspace, outputs, runs)
  if (missing) return missing
  const bundles = await gatherBundles({ ...context, runs }, outputs)
  if ("failure" in bundles) return bundles
  for (const output of outputs) {
    const bundle = bundles.get(output.key)
    if (bundle && (await isBundleEmpty(context, bundle))) return emptyBundle(output, runs)
  }
  context.status.phase = "uploading"
  const stored = await storeOutputs(context, outputs, bundles)
  const made = outputs.flatMap((output, index) => {
    const each = stored[index]
    return each ? [{ output, stored: each }] : []
  })
  const judged = await judgeOutputs(context, made, runs)
  if ("failure" in judged) return judged
  return { outputs: stored.map(({ report }) => report), warnings: judged }
}
