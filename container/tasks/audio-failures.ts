import { createCallerFailure } from "../task-failure.ts"
import type { TaskFailure } from "../task-failure.ts"

/** Returns the failure for an input without an audio stream. */
export function createNoAudioFailure(): TaskFailure {
  return createCallerFailure("no_audio", "The input has no audio stream.")
}

/** Returns the failure for an input with encrypted audio. `lines` are the error lines of ffmpeg. */
export function encryptedAudioFailure(lines: string[]): TaskFailure {
  const message = "The input is encrypted, so its audio cannot be decoded."
  return createCallerFailure("drm_protected", message, lines)
}
