/** Formats whose times may leap, by ffmpeg's names; their start is that of the streams in use. */
const LEAPING_FORMATS = new Set(["mpegts", "mpegtsraw", "mpeg", "ogg", "live_flv"])

/**
 * What the clock of a file shows, in seconds, when that of an output of ffmpeg shows 0. It is where
 * the file starts by its probe, or in some formats where the first of the mapped streams does.
 */
export function outputStart(
  file: { formatName: string; startSeconds: number },
  mappedStarts: readonly number[],
): number {
  const leaps = file.formatName.split(",").some((name) => LEAPING_FORMATS.has(name))
  const first = Math.min(...mappedStarts)
  return leaps && Number.isFinite(first) ? Math.max(file.startSeconds, first) : file.startSeconds
}
