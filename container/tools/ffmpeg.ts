/** What comes before a caller's words: no terminal, progress on descriptor 3 four times a second. */
const LEADING_WORDS = "-nostdin -hide_banner -y -progress pipe:3 -stats_period 0.25".split(" ")

/** Arguments of ffmpeg for a command whose keys are replaced by names already. */
export function ffmpegArguments(words: readonly string[]): string[] {
  return [...LEADING_WORDS, ...words]
}
