import { EXPLAIN_RULES } from "./rules/order.ts"
import { applyRule } from "./explain.ts"

/** Lines of ffmpeg 7 about a stream that ended before its first frame. */
const NO_FRAME =
  /^\[[av]f#\S+\] No filtered frames for output stream|^\[[av]ost#\S+\] Could not open encoder before EOF/
/** A frame came, and the encoder did not take it. */
const REFUSED_FRAME = /^\[[av]f#\S+\] Error sending frames to consumers/
/** A muxer of which ffmpeg 5 says the same, and goes on. */
const NO_TRAILER = /^\[out#\S+\] Error writing trailer: Invalid argument$/

/**
 * Whether ffmpeg failed for nothing but an output that no frame came to. ffmpeg 7 sets up the encoder
 * of such an output without a frame, by values that some encoders refuse, and fails; ffmpeg 5 leaves an
 * empty file and succeeds. `lines` are those of `cleanLines`.
 */
export function failedWithoutFrames(lines: readonly string[], hasWritten: boolean): boolean {
  if (lines.some((line) => REFUSED_FRAME.test(line))) return false
  const isEmpty = lines.some(
    (line) => NO_FRAME.test(line) || (!hasWritten && NO_TRAILER.test(line)),
  )
  return isEmpty && EXPLAIN_RULES.every((rule) => rule.isVague || applyRule(rule, lines) === null)
}
