import { FORMATS_ON_REQUEST, READABLE_CODECS, READABLE_FORMATS } from "./readable-media.ts"

/** What comes before a caller's words: no terminal, progress on descriptor 3 four times a second. */
const LEADING_WORDS = "-nostdin -hide_banner -progress pipe:3 -stats_period 0.25".split(" ")

/**
 * Arguments of ffmpeg for a command whose keys are replaced by names already. What an earlier
 * entry wrote is written over, unless the caller says what to do then.
 */
export function ffmpegArguments(words: readonly string[]): string[] {
  const guarded = words.flatMap((word, index) =>
    word === "-i" ? [...readingOptions(words, index), word] : [word],
  )
  return words.includes("-n")
    ? [...LEADING_WORDS, ...guarded]
    : ["-y", ...LEADING_WORDS, ...guarded]
}

/** Options that keep ffmpeg and ffprobe to plain files of known formats; `asked` are others. */
export function readingOptionsFor(asked: {
  protocols: readonly string[]
  formats: readonly string[]
}): string[] {
  return [
    "-protocol_whitelist",
    ["file", ...asked.protocols].join(","),
    "-format_whitelist",
    [...READABLE_FORMATS, ...asked.formats].join(","),
    "-codec_whitelist",
    READABLE_CODECS.join(","),
  ]
}

function readingOptions(words: readonly string[], at: number): string[] {
  const options = words.slice(at === 0 ? 0 : words.lastIndexOf("-i", at - 1) + 1, at)
  const format = options[options.lastIndexOf("-f") + 1] ?? ""
  return readingOptionsFor({
    protocols: words[at + 1]?.startsWith("concat:") ? ["concat"] : [],
    formats: options.includes("-f") && FORMATS_ON_REQUEST.includes(format) ? [format] : [],
  })
}
