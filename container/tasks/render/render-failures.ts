import { createCallerFailure } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import type { FailureCode } from "../../../src/contract/failure.ts"

/**
 * Returns the failure for a source without a usable video stream. Cover pictures do not count as
 * video. `hasUnknown` means that the source has a video stream that cannot be decoded.
 */
export function createNoVideoFailure(hasUnknown: boolean): TaskFailure {
  if (hasUnknown) {
    return createCallerFailure("invalid_input", "The video stream of the source cannot be decoded.")
  }
  return createCallerFailure("no_video", "The source has no video stream.")
}

/**
 * Returns the failure for a source without a decodable video frame. `lines` are the error lines of
 * ffmpeg.
 */
export function undecodableVideoFailure(lines: string[]): TaskFailure {
  const message = "The video stream of the source is damaged, and no frame can be decoded."
  return createCallerFailure("invalid_input", message, lines)
}

/** Returns the failure for a source with encrypted video. `lines` are the error lines of ffmpeg. */
export function encryptedVideoFailure(lines: string[]): TaskFailure {
  const message = "The source is encrypted, so its video cannot be decoded."
  return createCallerFailure("drm_protected", message, lines)
}

/**
 * Returns the failure for a rendition that exceeds the memory or thread limit of a process even if
 * no other rendition is encoded in the process. `lines` are the error lines of ffmpeg.
 */
export function tooLargeRenditionFailure(code: FailureCode, lines: string[]): TaskFailure {
  const message =
    "A rendition exceeds its limit of memory or threads: request a smaller resolution or another codec."
  return createCallerFailure(code, message, lines)
}
