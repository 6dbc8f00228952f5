import { rename } from "node:fs/promises"
import { callerFailure } from "../../failures.ts"
import type { TaskFailure } from "../../failures.ts"
import { pathIn } from "../../sandbox/workspace.ts"
import { chooseFormat, roomyFormat } from "../../tools/loudness/choose-format.ts"
import type { OutputFormat } from "../../tools/loudness/choose-format.ts"
import { containerName } from "../../tools/loudness/containers.ts"
import type { Gain } from "../../tools/loudness/gain.ts"
import type { Measured } from "../../tools/loudness/meter.ts"
import type { FinishedRun } from "../../tools/run-ffmpeg.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { normalizeSound } from "./normalize-sound.ts"
import type { MeasuredFile } from "./normalize-sound.ts"
import { planGains } from "./plan.ts"

/** A file that is to be stored: what became of its sound, and what it is. */
export type MadeFile = {
  name: string
  container: string
  /** The codecs of its streams of sound. */
  codecs: string[]
  gains: Gain[]
  after: Measured[]
  /** What ffmpeg did to write it; none where it is the input itself. */
  runs: FinishedRun[]
}

const PLAN_SHARE = { from: 0.3, to: 0.35 }

/** Makes the file that is the result; the input itself, where nothing is to be changed in it. */
export async function makeFile(
  context: RunContext,
  clock: RunClock,
  file: MeasuredFile,
): Promise<MadeFile | TaskFailure> {
  const gains = await planGains(context, clock, file, PLAN_SHARE)
  if ("failure" in gains) return gains
  if (gains.every(({ type }) => type === "none")) return await takeInput(context, file, gains)
  const format = chooseFormat(file.source)
  if (!format) {
    const message =
      "The input has more channels of sound than any format takes that is written here."
    return callerFailure("invalid_input", message)
  }
  const made = await makeIn(context, clock, file, { gains, format })
  if (!("failure" in made) || !isOfFormat(made)) return made
  // What a container holds depends on the file: the next one takes nearly everything.
  const other = roomyFormat(file.source)
  const remade =
    other && other.container !== format.container
      ? await makeIn(context, clock, file, { gains, format: other })
      : made
  return "failure" in remade && isOfFormat(remade) ? { ...remade, blame: "ours" } : remade
}

async function makeIn(
  context: RunContext,
  clock: RunClock,
  file: MeasuredFile,
  { gains, format }: { gains: Gain[]; format: OutputFormat },
): Promise<MadeFile | TaskFailure> {
  const name = `output.${format.extension}`
  const sound = await normalizeSound(context, clock, file, { gains, format, output: name })
  if ("failure" in sound) return sound
  const { codecs, container } = format
  return { ...sound, runs: [sound.run], name, container: container.name, codecs }
}

/** The input becomes the output, byte for byte. */
async function takeInput(
  { workspace }: RunContext,
  { input, source, before }: MeasuredFile,
  gains: Gain[],
): Promise<MadeFile> {
  const name = source.extension === "" ? "output" : `output.${source.extension}`
  await rename(pathIn(workspace, input), pathIn(workspace, name))
  const codecs = source.audio.map(({ codec }) => codec)
  return { name, container: containerName(source), codecs, gains, after: before, runs: [] }
}

/** Whether a failure is of what was to be written, and of no limit. */
function isOfFormat({ blame, failure: { code } }: TaskFailure): boolean {
  const codes = ["command_failed", "encoder_not_found", "filter_error", "invalid_option"]
  return blame === "caller" && codes.includes(code)
}
