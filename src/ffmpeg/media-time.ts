const UNIT_SECONDS: Record<string, number> = { s: 1, ms: 1e-3, us: 1e-6 }

/**
 * Parses a time in one of ffmpeg's formats: `HH:MM:SS.m`, `MM:SS.m`, or a number with `s`, `ms` or
 * `us`. Returns seconds, or null for other texts and for negative times.
 */
export function parseFfmpegTime(text: string | undefined): number | null {
  const clock = /^(?:(\d+):)?(\d{1,2}):(\d{1,2}(?:\.\d*)?)s?$/.exec(text ?? "")
  if (clock) return Number(clock[1] ?? 0) * 3600 + Number(clock[2]) * 60 + Number(clock[3])
  const plain = /^(\d+(?:\.\d*)?|\.\d+)(s|ms|us)?$/.exec(text ?? "")
  if (plain) return Number(plain[1]) * (UNIT_SECONDS[plain[2] ?? "s"] ?? 1)
  return null
}

/** Formats a number of seconds for a message, with at most two decimal places. */
export function formatSecondsForMessage(seconds: number): string {
  const rounded = Math.round(seconds * 100) / 100
  return rounded === 1 ? "1 second" : `${rounded} seconds`
}
