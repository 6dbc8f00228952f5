import type { ExplainRule } from "./rules/rule.ts"

/** Formats whose files only refer to other files. */
const LIST_FORMATS = /^(?:concat|dash|hls|imf|rtp|rtsp|sap|sdp|vobsub)$/

/** Rules for what the whitelists refuse, in the wording of container/tools/explain.ts. */
export const UNREADABLE_RULES: readonly ExplainRule[] = [
  {
    code: "invalid_input",
    pattern: /^\[(\S+?)\] Format is not read here/,
    sentence: (format) => {
      if (format === "concat") return 'A list of files is read only with "-f concat" before its -i.'
      return `An input cannot be used: ${describeRefusal(format)}.`
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

/** Why the format whitelist refused a file, as the end of a sentence; null where it did not. */
export function findRefusedFormat(lines: readonly string[]): string | null {
  for (const line of lines) {
    const format = /^\[(\S+?)\] Format is not read here/.exec(line)?.[1]
    if (format !== undefined) return describeRefusal(format)
  }
  return null
}

function describeRefusal(format: string): string {
  return LIST_FORMATS.test(format)
    ? `it is a list of other files (${format}), which are not opened`
    : `its format (${format}) is not read here`
}
