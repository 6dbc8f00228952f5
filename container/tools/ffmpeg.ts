/** What comes before a caller's words: no terminal, progress on descriptor 3 four times a second. */
const LEADING_WORDS = "-nostdin -hide_banner -progress pipe:3 -stats_period 0.25".split(" ")

/**
 * Arguments of ffmpeg for a command whose keys are replaced by names already. What an earlier
 * entry wrote is written over, unless the caller says what to do then.
 */
export function ffmpegArguments(words: readonly string[]): string[] {
  return words.includes("-n") ? [...LEADING_WORDS, ...words] : ["-y", ...LEADING_WORDS, ...words]
}
