import { openPlainFile } from "../sandbox/workspace.ts"
import type { ExplainRule } from "./rules/rule.ts"

/** Formats whose files only refer to other files. */
const LIST_FORMATS = /^(?:concat|dash|hls|imf|rtp|rtsp|sap|sdp|vobsub)$/

/**
 * How lists begin that some builds of ffmpeg do not know, or know by the ends of names alone, and then
 * take for media that are damaged.
 */
const LIST_HEADS: readonly [format: string, head: RegExp][] = [
  ["hls", /^(?:\uFEFF)?#EXTM3U/],
  ["dash", /^(?:\uFEFF)?\s{0,100}(?:<\?xml[^>]{0,200}>\s{0,100})?<MPD[\s>]/],
  ["sdp", /^v=0\r?\no=/],
]
const HEAD_BYTES = 512

/** Rules for what the whitelists refuse, in the wording of container/tools/explain.ts. */
export const UNREADABLE_RULES: readonly ExplainRule[] = [
  {
    code: "invalid_input",
    pattern: /^\[(\S+?)\] Format is not read here/,
    sentence: (format) => {
      if (format === "concat") return 'A list of files is read only with "-f concat" before its -i.'
      return refusedInput(describeRefusal(format))
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

/** Why a file that could not be read is none of media, as the end of a sentence; null: it may be. */
export async function findList(path: string): Promise<string | null> {
  await using handle = await openPlainFile(path)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), { position: 0 })
  const head = buffer.toString("utf8", 0, bytesRead)
  const format = LIST_HEADS.find(([, pattern]) => pattern.test(head))?.[0]
  return format === undefined ? null : describeRefusal(format)
}

/** The sentence of a command whose input is refused. */
export function refusedInput(why: string): string {
  return `An input cannot be used: ${why}.`
}

function describeRefusal(format: string): string {
  return LIST_FORMATS.test(format)
    ? `it is a list of other files (${format}), which are not opened`
    : `its format (${format}) is not read here`
}
