import { callerFailure } from "../../failures.ts"
import type { TaskFailure } from "../../failures.ts"
import type { FailureCode } from "../../../src/contract/failure.ts"

/** The failure of an input without a picture; a cover is none. */
export function noVideo(hasUnknown: boolean): TaskFailure {
  if (hasUnknown) {
    return callerFailure("invalid_input", "The source has a picture that cannot be decoded here.")
  }
  return callerFailure("no_video", "The source has no picture: there is no video stream in it.")
}

/** The failure of a source of which no frame can be decoded; `lines` are what ffmpeg said of it. */
export function undecodable(lines: string[]): TaskFailure {
  const message = "The picture of the source is damaged, so that no frame of it can be decoded."
  return callerFailure("invalid_input", message, lines)
}

/** The failure of a source that is encrypted; `lines` are what ffmpeg said of it. */
export function encryptedPicture(lines: string[]): TaskFailure {
  const message = "The source is encrypted, so that its picture cannot be decoded."
  return callerFailure("drm_protected", message, lines)
}

/** The failure of renditions of which a single one needs more than a process may have. */
export function tooLarge(code: FailureCode, lines: string[]): TaskFailure {
  const message =
    "A rendition needs more memory or threads than it may have: ask for a smaller resolution or for another codec."
  return callerFailure(code, message, lines)
}
