import { stat } from "node:fs/promises"
import type { Warning } from "../../../src/contract/warning.ts"
import { callerFailure } from "../../failures.ts"
import type { TaskFailure } from "../../failures.ts"
import { pathIn } from "../../sandbox/workspace.ts"
import { readMovieHeader } from "../../tools/movie-header.ts"
import type { FinishedRun } from "../../tools/run-ffmpeg.ts"
import { findDamage } from "../judge-outputs.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { runPass } from "../run-pass.ts"
import { encryptedSound, noAudio } from "../sound-failures.ts"

/** A decoded sound: a file of samples of 16 bits, the low byte first, without a header. */
export type Sound = { path: string; sampleCount: number; warnings: Warning[] }

export const SAMPLES_PER_SECOND = 16_000

/** The part of a transcription's progress that decoding is. */
export const DECODE_SHARE = 0.05

const SAMPLE_BYTES = 2
/** No input has this name, since those begin with their keys. */
const SOUND_NAME = "sound.s16le"

/**
 * Mixes to mono in floating point, where nothing is made quieter for the sake of peaks that there
 * are not. Left and right differ in weight, so that a channel of the other polarity does not silence
 * the other.
 */
const MIX = "aformat=sample_fmts=fltp:channel_layouts=mono|stereo,pan=mono|c0=FC+0.6*FL+0.4*FR"
/** The same for channels of which nothing says where they are. */
const NAMELESS_MIX = "aformat=sample_fmts=fltp,pan=mono|c0=0.6*c0+0.4*c1"
const IS_NAMELESS = /Rematrix is needed|Input channel layout .* is not supported/
/** Gaps, and what is before the sound begins, become silence, so that its times are the input's. */
const RESAMPLE = `aresample=${SAMPLES_PER_SECOND}:async=1:first_pts=0`

/** Decodes the audio stream of an input that ffmpeg takes for the main one, to mono at 16 kHz. */
export async function decodeSound(
  context: RunContext,
  clock: RunClock,
  name: string,
): Promise<Sound | TaskFailure> {
  const mixed = await decode(context, clock, name, MIX)
  const isNameless =
    "failure" in mixed && mixed.failure.lines.some((line) => IS_NAMELESS.test(line))
  const run = isNameless ? await decode(context, clock, name, NAMELESS_MIX) : mixed
  const lines = "failure" in run ? run.failure.lines : run.complaints
  if (await isEncrypted(context, name, run)) return encryptedSound(lines)
  if ("failure" in run) return run.failure.code === "no_output" ? noAudio() : run
  const path = pathIn(context.workspace, SOUND_NAME)
  const sampleCount = Math.floor((await stat(path)).size / SAMPLE_BYTES)
  if (sampleCount === 0 && run.notes.damage.length > 0) return undecodable(run)
  return { path, sampleCount, warnings: findDamage(context, run) }
}

async function decode(
  context: RunContext,
  clock: RunClock,
  name: string,
  mix: string,
): Promise<FinishedRun | TaskFailure> {
  const filters = `${mix},${RESAMPLE}`
  const argv = ["-i", name, "-vn", "-sn", "-dn", "-af", filters, "-f", "s16le", SOUND_NAME]
  return await runPass(context, clock, { argv, from: 0, to: DECODE_SHARE })
}

/** Whether what the decoder could not read is encrypted; some of it may look like sound. */
async function isEncrypted(
  { workspace }: RunContext,
  name: string,
  run: FinishedRun | TaskFailure,
): Promise<boolean> {
  const isDamaged =
    "failure" in run ? run.failure.code === "invalid_input" : run.notes.damage.length > 0
  return isDamaged && (await readMovieHeader(pathIn(workspace, name))).isEncrypted
}

/** The failure of a sound of which the decoder made nothing; ffmpeg succeeds all the same. */
function undecodable({ complaints }: FinishedRun): TaskFailure {
  const message = "The sound of the input is damaged, so that nothing of it can be decoded."
  return callerFailure("invalid_input", message, complaints)
}
