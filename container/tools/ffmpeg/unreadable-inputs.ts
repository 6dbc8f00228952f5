import { hasMediaSignature, isWebPage, decodeTextStart } from "../first-bytes.ts"
import type { ExplainRule } from "./rules/explain-rule.ts"

/** Matches names of formats whose files only refer to other files. */
const LIST_FORMATS = /^(?:concat|dash|hls|imf|rtp|rtsp|sap|sdp|vobsub)$/

/**
 * Patterns for the first bytes of files that refer to other files, such as playlists. Some builds
 * of ffmpeg do not detect these formats, or detect them only by the extension, and report damaged
 * media.
 */
const LIST_STARTS: readonly [format: string, head: RegExp][] = [
  ["hls", /^(?:\uFEFF)?#EXTM3U/],
  ["dash", /^(?:\uFEFF)?\s{0,100}(?:<\?xml[^>]{0,200}>\s{0,100})?<MPD[\s>]/],
  ["sdp", /^v=0\r?\no=/],
]
const LIST_BYTES = 512

/**
 * Rules that explain failures because of an input that the whitelists of formats, decoders and
 * protocols do not allow. The rules match the lines that `cleanToolLines` returns.
 */
export const REFUSED_INPUT_RULES: readonly ExplainRule[] = [
  {
    code: "invalid_input",
    pattern: /^\[(\S+?)\] Format is not supported/,
    sentence: (format) => {
      if (format === "concat") return 'A list of files is read only with "-f concat" before its -i.'
      return formatRefusedInputMessage(describeRefusal(format))
    },
  },
  {
    code: "decoder_not_found",
    pattern: /Codec \((\S+)\) is not supported/,
    sentence: (name) => `There is no decoder "${name}".`,
  },
  {
    code: "invalid_input",
    pattern: /Protocol '([^']*)' is not supported/,
    sentence: (name) =>
      `The protocol "${name}:" is not allowed: commands read only files of the job.`,
  },
]

/**
 * Returns the reason why ffmpeg refused a file because of the whitelist of formats, as a clause
 * that begins with "it" or "its"; null if the file was not refused.
 */
export function findRefusedFormatReason(lines: readonly string[]): string | null {
  for (const line of lines) {
    const format = /^\[(\S+?)\] Format is not supported/.exec(line)?.[1]
    if (format !== undefined) return describeRefusal(format)
  }
  return null
}

/**
 * Returns a clause that explains that an unreadable file is a list of other files, such as a
 * playlist. Returns null if the file may be media. `head` contains the first bytes of the file.
 */
export function findFileListReason(head: Buffer): string | null {
  const text = head.toString("utf8", 0, LIST_BYTES)
  const format = LIST_STARTS.find(([, pattern]) => pattern.test(text))?.[0]
  return format === undefined ? null : describeRefusal(format)
}

/**
 * Reports whether an unreadable file was probably meant to be media, according to its media type or
 * its first bytes (`head`).
 */
export function isFileIntendedAsMedia(head: Buffer, mediaType: string): boolean {
  const isOfMedia = /^(?:audio|video|image)\//.test(mediaType)
  return isOfMedia || hasMediaSignature(head) || findFileListReason(head) !== null
}

/**
 * Result of probing an unreadable file: the reason, such as "it is plain text", the error lines of
 * ffprobe, and the first bytes of the file (`head`).
 */
export type UnreadableFileProbe = { reason: string; lines: readonly string[]; head: Buffer }

/** Matches lines of ffprobe about a file that ends too early. */
const CUT_OFF =
  /: End of file$|Input\/output error|Could not seek to|ended prematurely|partial file|chunk too big/

/**
 * Returns the error sentence, with advice, for a file that was expected to be media but cannot be
 * read.
 */
export function explainUnreadableFile({ reason, lines, head }: UnreadableFileProbe): string {
  if (head.length === 0) return "The file is empty. Upload it again."
  if (reason.startsWith(LIST))
    return `The file is not media: ${reason}. Upload the media themselves.`
  const text = decodeTextStart(head)
  if (text !== null && isWebPage(text)) {
    return "The file is a web page (HTML), not media. Upload the media itself."
  }
  if (text !== null) return "The file is text, not media. Upload the media itself."
  // Checks the first bytes of the file too, since ffprobe reports a missing index for any file with
  // the extension of a movie.
  if (hasMediaSignature(head) && lines.some((line) => line.includes("moov atom not found"))) {
    return "The file is cut off: its index (moov atom) is missing. Upload it again."
  }
  if (lines.some((line) => CUT_OFF.test(line))) {
    return "The file is cut off: it ends before its media do. Upload it again."
  }
  return `The file cannot be read as media: ${reason}. Upload it again, or in another format.`
}

/**
 * Returns the error sentence for a command with an input that ffmpeg may not read. `why` is the
 * reason, such as "it is a list of other files".
 */
export function formatRefusedInputMessage(why: string): string {
  return `An input cannot be used: ${why}.`
}

const LIST = "it is a list of other files"

function describeRefusal(format: string): string {
  return LIST_FORMATS.test(format)
    ? `${LIST} (${format}), which are not opened`
    : `its format (${format}) is not supported`
}
