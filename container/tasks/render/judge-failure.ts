import { pathIn } from "../../sandbox/workspace.ts"
import type { TaskFailure } from "../../failures.ts"
import { readMovieHeader } from "../../tools/movie-header.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { runPass } from "../run-pass.ts"
import type { PictureSource } from "./encode-arguments.ts"
import { encryptedPicture, tooLarge, undecodable } from "./failures.ts"

/** Failures of a command that a caller wrote; here the runner wrote it. */
const COMMAND_CODES = new Set([
  "command_failed",
  "decoder_not_found",
  "encoder_not_found",
  "filter_error",
  "invalid_input",
  "invalid_option",
  "no_output",
  "stream_not_found",
])

/** Failures of a process that needed more than the sandbox gives it. */
const ROOM_CODES = new Set(["out_of_memory", "process_limit"])

/** Whether ffmpeg may do with less at a time what it failed over. */
export function needsMoreRoom({ blame, failure }: TaskFailure): boolean {
  return blame === "caller" && ROOM_CODES.has(failure.code)
}

/**
 * Whose fault it is that renditions could not be made: the source's, where nothing of its picture
 * can be decoded, else the runner's. Limits are told as they are.
 */
export async function judgeEncodeFailure(
  context: RunContext,
  clock: RunClock,
  source: PictureSource,
  failed: TaskFailure,
): Promise<TaskFailure> {
  const { code, lines } = failed.failure
  if (needsMoreRoom(failed)) return tooLarge(code, lines)
  if (failed.blame === "ours" || !COMMAND_CODES.has(code)) return failed
  const isMovie = source.format.startsWith("mov,")
  const isEncrypted =
    isMovie && (await readMovieHeader(pathIn(context.workspace, source.name))).isEncrypted
  // Before its frames are tried: what is encrypted may look like a frame by chance.
  if (isEncrypted) return encryptedPicture(lines)
  if (await decodesAny(context, clock, source)) return { ...failed, blame: "ours" }
  return undecodable(lines)
}

/** Whether a frame of the picture can be decoded. */
async function decodesAny(
  context: RunContext,
  clock: RunClock,
  { name, video }: PictureSource,
): Promise<boolean> {
  const argv = ["-i", name, "-map", `0:${video.index}`, "-frames:v", "1", "-f", "null", "-"]
  const run = await runPass(context, clock, { argv, from: 0, to: 0 })
  return !("failure" in run) && run.notes.hasWritten
}
