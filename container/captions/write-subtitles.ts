import { build } from "subsrt-ts"
import type { Cue } from "./shape-cues.ts"

/** Keeps what looks like a tag from being one. */
const WORD_JOINER = "\u2060"

/** Writes cues as SRT; without cues it is empty. */
export function writeSrt(cues: readonly Cue[]): string {
  return write("srt", cues, escapeSrt)
}

/** Writes cues as WebVTT. */
export function writeVtt(cues: readonly Cue[]): string {
  return write("vtt", cues, escapeVtt)
}

function write(
  format: "srt" | "vtt",
  cues: readonly Cue[],
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
  // The blank line after the last cue separates it from none.
  return written.replace(/\n+$/, "\n")
}

/** SRT has no escapes: an arrow gets a shorter shaft, and tags are taken apart invisibly. */
function escapeSrt(line: string): string {
  return escapeOverride(line.replace(/-{2,}>/g, "->").replace(/<(?=[a-z/])/gi, `<${WORD_JOINER}`))
}

function escapeVtt(line: string): string {
  const escaped = line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
  return escapeOverride(escaped)
}

/** Many players read tags of SubStation Alpha, as `{\an8}`, in whatever format they are. */
function escapeOverride(line: string): string {
  return line.replaceAll("{\\", `{${WORD_JOINER}\\`)
}
