import { renderTask } from "../../src/contract/tasks/render.ts"
import type { RenderResult, RenderWork } from "../../src/contract/tasks/render.ts"
import { finishOutputs } from "./finish-outputs.ts"
import { measureQuality } from "./render/measure-quality.ts"
import { makeRenditions } from "./render/make-renditions.ts"
import { describeMade, placeOf } from "./render/made.ts"
import { planRenditions } from "./render/plan.ts"
import { readPictureSource } from "./render/read-source.ts"
import { startRunClock } from "./run-clock.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"
import { downloadInput } from "./single-input.ts"

export const render = { definition: renderTask, run: runRenderTask }

const ENCODE_SHARE = { from: 0, to: 0.95 }

/** Reads what the source is, encodes all renditions of it, and stores them. */
async function runRenderTask(
  context: RunContext,
  work: RenderWork,
): Promise<TaskOutcome<RenderResult>> {
  const input = await downloadInput(context, "A transcode")
  const clock = startRunClock(context, { secondsMax: work.run_seconds_max, what: "a transcode" })
  const source = await readPictureSource(context, clock, input)
  if ("failure" in source) return source
  const renditions = planRenditions(source.video, work)
  const startedMs = performance.now()
  const runs = await makeRenditions(context, clock, { source, renditions, share: ENCODE_SHARE })
  if ("failure" in runs) return runs
  const encodeMs = performance.now() - startedMs
  const made = renditions.map((rendition) => describeMade(source.video, rendition))
  const qualities = work.measures_quality
    ? await measureQuality(context, clock, placeOf(source), made, encodeMs)
    : null
  const stored = await finishOutputs(context, work.outputs, runs)
  if ("failure" in stored) return stored
  const outputs = stored.outputs.map((output) => {
    const quality = qualities?.get(output.key)
    return quality ? { ...output, quality } : output
  })
  return { result: { kind: "render", outputs, warnings: stored.warnings } }
}
