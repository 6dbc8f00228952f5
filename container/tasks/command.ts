import { substitute } from "../../src/contract/command-line.ts"
import type { TaskInput, TaskOutput, TaskWork } from "../../src/contract/task.ts"
import { mapAtOnce } from "../at-once.ts"
import { gatherBundles } from "../bundles.ts"
import { sayWhere } from "../explain.ts"
import type { Explained, Place } from "../explain.ts"
import { findOutputFailure, storeBundle, storeOutput } from "../outputs.ts"
import type { Ending } from "../report.ts"
import { processingSeconds } from "../run.ts"
import type { Run } from "../run.ts"
import { runFfmpeg } from "../tools/run-ffmpeg.ts"
import { downloadInput } from "../transfer.ts"
import { pathIn } from "../workspace.ts"

export type CommandWork = Extract<TaskWork, { kind: "command" }>

const DOWNLOADS_AT_ONCE = 4
const OUTPUTS_AT_ONCE = 2
/** What the first moments of a run foretell is worth nothing. */
const ETA_FRACTION_MIN = 0.02
const ETA_SECONDS_MIN = 1
const PERCENT_BEFORE_END = 99

/** Brings the inputs, runs the commands one after another, stores the outputs. */
export async function runCommandTask(run: Run, work: CommandWork): Promise<Ending> {
  run.status.step = "downloading"
  const { io, signal, workspace } = run
  await mapAtOnce(run.order.inputs, { limit: DOWNLOADS_AT_ONCE, signal }, (input, joint) =>
    downloadInput({ io, signal: joint }, input, pathIn(workspace, input.name)),
  )
  run.status.step = "working"
  let trouble: string[] = []
  const failed =
    (await runCommands(run, work, (lines) => (trouble = lines))) ??
    (await findOutputFailure(run, work.outputs, trouble))
  if (failed) return failedBy(run, failed)
  const bundles = await gatherBundles(run, work.outputs)
  if ("failure" in bundles) return failedBy(run, bundles)
  run.status.step = "uploading"
  const pace = { limit: OUTPUTS_AT_ONCE, signal }
  const outputs = await mapAtOnce(work.outputs, pace, (output, joint) => {
    const files = bundles.get(output.key)
    const part = { ...run, signal: joint }
    return files ? storeBundle(part, output, files) : storeOutput(part, output)
  })
  return { kind: "finished", processing_seconds: processingSeconds(run.status), outputs }
}

function failedBy({ status }: Run, failed: Explained): Ending {
  return { kind: "failed", processing_seconds: processingSeconds(status), ...failed }
}

async function runCommands(
  run: Run,
  work: CommandWork,
  onTrouble: (lines: string[]) => void,
): Promise<Explained | null> {
  const names = namesByKey(run.order.inputs, work.outputs)
  const beganMs = performance.now()
  const total = work.commands.length
  for (const [index, words] of work.commands.entries()) {
    const place = { number: index + 1, total }
    const end = await runFfmpeg(run, {
      words: substitute(words, names),
      place,
      onTrouble,
      timeLimitMs: work.run_seconds_max * 1000 - (performance.now() - beganMs),
      onFraction: (fraction) => {
        const done = (index + fraction) / total
        const seconds = (performance.now() - beganMs) / 1000
        const isTelling = done >= ETA_FRACTION_MIN && seconds >= ETA_SECONDS_MIN
        const etaSeconds = isTelling ? Math.round((seconds * (1 - done)) / done) : null
        run.reporter.progress(Math.min(done * 100, PERCENT_BEFORE_END), etaSeconds)
      },
    })
    if (end === "time limit") return tooLong(place, work.run_seconds_max)
    if (end) return end
  }
  return null
}

function tooLong(place: Place, secondsMax: number): Explained {
  const what = place.total > 1 ? "the commands together" : "the command"
  const message = sayWhere(place, `It was stopped: ${what} may run for ${secondsMax} seconds.`)
  return { blame: "caller", failure: { code: "time_limit", message, lines: [] } }
}

function namesByKey(inputs: readonly TaskInput[], outputs: readonly TaskOutput[]) {
  return new Map([...inputs, ...outputs].map(({ key, name }) => [key, name]))
}
