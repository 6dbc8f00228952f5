import { callerFailure } from "../failures.ts"
import type { TaskFailure } from "../failures.ts"

/** The failure of an input without an audio stream. */
export function noAudio(): TaskFailure {
  return callerFailure("no_audio", "The input has no sound: there is no audio stream in it.")
}

/** The failure of an input whose sound is encrypted; `lines` are what ffmpeg said of it. */
export function encryptedSound(lines: string[]): TaskFailure {
  const message = "The input is encrypted, so that its sound cannot be decoded."
  return callerFailure("drm_protected", message, lines)
}
