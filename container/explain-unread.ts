import type { ExplainRule } from "./explain-rule.ts"

/** Formats whose files only name others. */
const LISTS = /^(?:concat|dash|hls|imf|rtp|rtsp|sap|sdp|vobsub)$/

/** What ffmpeg is kept from reading; the words are those of container/stderr-lines.ts. */
export const UNREAD_RULES: readonly ExplainRule[] = [
  {
    code: "invalid_input",
    pattern: /^\[(\S+?)\] Format is not read here/,
    sentence: (format) => {
      if (format === "concat") return 'A list of files is read only with "-f concat" before its -i.'
      return `An input cannot be used: ${whyUnread(format)}.`
    },
  },
  {
    code: "decoder_not_found",
    pattern: /Codec \((\S+)\) is not read here/,
    sentence: (name) => `There is no decoder "${name}".`,
  },
  {
    code: "invalid_input",
    pattern: /Protocol '([^']*)' is not read here/,
    sentence: (name) => `Only files of the job are read, not what "${name}:" stands for.`,
  },
]

/** Why a file is refused for its format, as the end of a sentence; null where it was not. */
export function findUnreadFormat(lines: readonly string[]): string | null {
  for (const line of lines) {
    const format = /^\[(\S+?)\] Format is not read here/.exec(line)?.[1]
    if (format !== undefined) return whyUnread(format)
  }
  return null
}

function whyUnread(format: string): string {
  return LISTS.test(format)
    ? `it is a list of other files (${format}), which are not opened`
    : `its format (${format}) is not read here`
}
