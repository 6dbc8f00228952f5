import { NORMALIZED_KEY, normalizeTask } from "../../src/contract/tasks/normalize.ts"
import type { NormalizeResult, NormalizeWork } from "../../src/contract/tasks/normalize.ts"
import { RunnerError } from "../failures.ts"
import { finishOutputs } from "./finish-outputs.ts"
import { describeResult } from "./normalize/describe.ts"
import { makeFile } from "./normalize/make-file.ts"
import { measureInput, readInput } from "./normalize/read-input.ts"
import { startRunClock } from "./run-clock.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"
import { downloadInput } from "./single-input.ts"

export const normalize = { definition: normalizeTask, run: runNormalizeTask }

/** Measures the input, applies gains, measures what came of it, and stores that. */
async function runNormalizeTask(
  context: RunContext,
  work: NormalizeWork,
): Promise<TaskOutcome<NormalizeResult>> {
  const input = await downloadInput(context, "A normalization")
  const clock = startRunClock(context, {
    secondsMax: work.run_seconds_max,
    what: "a normalization",
  })
  const source = await readInput(context, input)
  if ("failure" in source) return source
  const measurement = await measureInput(context, clock, input, source)
  if ("failure" in measurement) return measurement
  const { measured: before, run } = measurement
  const file = { input, source, before, target: work.target }
  const made = await makeFile(context, clock, file)
  if ("failure" in made) return made
  const output = { key: work.outputs[0]?.key ?? NORMALIZED_KEY, name: made.name }
  const stored = await finishOutputs(context, [output], [run, ...made.runs])
  if ("failure" in stored) return stored
  const [report] = stored.outputs
  if (!report) throw new RunnerError("internal", "A normalization has no output.")
  const { warnings } = stored
  return { result: describeResult(file, made, { output: report, warnings }) }
}
