import type { Warning } from "../../src/contract/warning.ts"

const MESSAGE_LENGTH_MAX = 1000

/**
 * What ffmpeg and ffprobe 5 to 8 say of an input that is damaged, or ends too early, while they go
 * on with the rest. What also comes of a seek into a stream is left out.
 */
const DAMAGE: readonly RegExp[] = [
  /corrupt input packet in stream \d/,
  /: partial file$/,
  /File ended prematurely/,
  /filesize and duration do not match/,
  /Error while decoding stream #\d/,
  /Error submitting (?:a )?packet to (?:the )?decoder: Invalid data/,
  /Decoding error: Invalid data/,
  /Error during demuxing: (?:Invalid data|Input\/output error)/,
  /error while decoding MB \d/,
  /concealing \d+ DC, \d+ AC/,
  /decode_frame\(\) failed$/,
  /^(?!\[)[^:]+: (?:Invalid data found when processing input|Input\/output error)$/,
]

/** Whether a line of a tool says that an input is damaged. */
export function tellsDamage(line: string): boolean {
  return DAMAGE.some((pattern) => pattern.test(line))
}

/** The warning of a damaged input; `name` is null where several inputs may be meant. */
export function damageWarning(name: string | null, line: string): Warning {
  const said = line.replace(/^(?:\[[^\]]*\] )+/, "").replace(/\.$/, "")
  const message = `${name ?? "An input"} is damaged or not complete, so that something may be missing: ${said}.`
  return { code: "input_damaged", message: message.slice(0, MESSAGE_LENGTH_MAX) }
}
