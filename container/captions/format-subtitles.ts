import { build } from "subsrt-ts"
import type { SubtitleCue } from "./shape-cues.ts"

/**
 * Invisible character U+2060, which is inserted into subtitle text that players would otherwise
 * interpret as a tag.
 */
const WORD_JOINER = "\u2060"

/**
 * Formats subtitle cues as the content of an SRT file. Returns an empty text if there are no cues.
 */
export function formatSrt(cues: readonly SubtitleCue[]): string {
  return write("srt", cues, escapeSrt)
}

/** Formats subtitle cues as the content of a WebVTT file. */
export function formatVtt(cues: readonly SubtitleCue[]): string {
  return write("vtt", cues, escapeVtt)
}

function write(
  format: "srt" | "vtt",
  cues: readonly SubtitleCue[],
  escape: (line: string) => string,
): string {
  const captions = cues.map(({ startMs, endMs, lines }, index) => {
    const text = lines.map(escape).join("\n")
    return {
      type: "caption" as const,
      index: index + 1,
      start: startMs,
      end: endMs,
      duration: endMs - startMs,
      content: text,
      text,
    }
  })
  const written = build(captions, { format, eol: "\n" })
  // Removes the blank line that `build` of subsrt-ts writes after the last cue.
  return written.replace(/\n+$/, "\n")
}

/**
 * Makes a line of text safe for SRT, a format without escape sequences. Shortens arrows to `->`,
 * and inserts an invisible character (word joiner) into text that looks like a tag.
 */
function escapeSrt(line: string): string {
  return escapeOverride(line.replace(/-{2,}>/g, "->").replace(/<(?=[a-z/])/gi, `<${WORD_JOINER}`))
}

function escapeVtt(line: string): string {
  const escaped = line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
  return escapeOverride(escaped)
}

/**
 * Inserts an invisible character (word joiner) into text that looks like a SubStation Alpha tag
 * such as `{\an8}`, because many players interpret such tags in every subtitle format.
 */
function escapeOverride(line: string): string {
  return line.replaceAll("{\\", `{${WORD_JOINER}\\`)
}
