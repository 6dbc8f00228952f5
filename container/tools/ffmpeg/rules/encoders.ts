import { toExplainRules } from "./explain-rule.ts"
import type { ExplainRule } from "./explain-rule.ts"

const EVEN_SIDES_ADVICE =
  "write even numbers, or -2 for a side that is to follow the other, as scale=640:-2"

/**
 * Advice for a property, such as the pixel format, that an encoder rejects. The keys are ffmpeg's
 * names of the properties.
 */
const PROPERTY_ADVICE: Record<string, string> = {
  "sample rate": "leave -ar out, or write one that it takes, as -ar 48000",
  "sample format": "leave -sample_fmt out",
  "pixel format": "leave -pix_fmt out, or write -pix_fmt yuv420p",
  "channel layout": "write -ac 2",
}

/** Rules that explain failures of ffmpeg because an encoder rejected a value or a frame. */
export const ENCODER_EXPLAIN_RULES: readonly ExplainRule[] = toExplainRules("invalid_option", [
  [
    /^\[(\w+)\] Specified (sample rate|sample format|pixel format|channel layout) (.{1,80}?) is (?:not|invalid or not) supported/,
    (encoder, what, value) =>
      `The encoder ${encoder} does not support the ${what} ${value}: ${PROPERTY_ADVICE[what]}.`,
  ],
  [
    /^\[(\w+)\] (?:width|height) not divisible by 2 \((\d+x\d+)\)/,
    (encoder, size) =>
      `The encoder ${encoder} requires an even width and height, and got ${size}: ${EVEN_SIDES_ADVICE}.`,
  ],
  [
    /x265 \[error\]: Picture (width|height) must be an integer multiple of the specified chroma/,
    (side) =>
      `The encoder libx265 requires an even width and height, and the ${side} is odd: ${EVEN_SIDES_ADVICE}.`,
  ],
  [
    /x265 \[error\]: Valid quality based range/,
    () => 'The encoder libx265 does not take this "-crf": write 0 to 51, as -crf 28.',
  ],
  [
    /x26[45] \[error\]: (\w+) profile doesn't support (?:a )?(.+)$/,
    (profile, what) =>
      `The profile ${profile} has no ${what}: write -pix_fmt yuv420p, or leave -profile:v out.`,
  ],
  [
    /^\[\w+\] Possible profiles: (.+)$/,
    (profiles, _, __, { files }) => {
      const options = files.flatMap((file) => file.options)
      const profile = options.findLast(({ name }) => name === "profile")?.value ?? ""
      return `The encoder does not take the profile "${profile}" for these pictures: leave -profile:v out, or write one of ${profiles}; most profiles require yuv420p, as -pix_fmt yuv420p.`
    },
  ],
  [
    /^\[libx264\] (?:invalid level_idc: (\d+)|Error parsing option 'level' with value '(.+)')/,
    (tenfold, value) =>
      `The encoder libx264 does not support the level ${value || Number(tenfold) / 10}: write a level of H.264, as 3.1, 4.0 or 4.2.`,
  ],
  [
    /The bit rate (\d+) bps is unsupported. Please choose a value between (\d+) and (\d+)/,
    (rate, least, most) =>
      Number(rate) < Number(least)
        ? `The encoder does not support a bitrate as low as ${rate}: write ${rate}k.`
        : `The encoder does not support a bitrate as high as ${rate}: write less, as 128k; it takes at most ${most}.`,
  ],
  [
    /Bitrate (\d+) is extremely low, maybe you mean \d+k/,
    (rate) => `The encoder does not support a bitrate as low as ${rate}: write ${rate}k.`,
    { next: /encoder setup failed/ },
  ],
  [
    /\[SWR\] Rematrix is needed between (.{1,80}?) and (\d+) channels/,
    (from, to) =>
      `${from} channels cannot be mixed to ${to}: write fewer, as -ac 2, or place them by the filter pan.`,
  ],
  [
    /The encoder '([^']*)' is experimental/,
    (name) =>
      `The encoder "${name}" is experimental: write -strict -2 before the output, or take another encoder.`,
  ],
  [
    /ratecontrol_init: can't open stats file|Error: ?2nd pass has no|Error reading log file/,
    () =>
      "A second pass reads what a first pass wrote, and there is none: give `ffmpeg_commands` with the same as -pass 1 -f null - first, or leave -pass out.",
  ],
])

/**
 * Rules for messages of ffmpeg that say only that an encoder failed. The rules for filters and
 * formats are tried first, because they may find the cause.
 */
export const FALLBACK_ENCODER_EXPLAIN_RULES: readonly ExplainRule[] = [
  {
    code: "invalid_option",
    pattern: /^\[(\w+)\] (.+?)\.?$/,
    next: /Error while opening encoder/,
    isVague: true,
    sentence: (encoder, why) => `The encoder ${encoder} cannot start: ${why}.`,
  },
  {
    code: "invalid_option",
    pattern: /Error while opening encoder/,
    isVague: true,
    sentence: () => "An encoder does not support its options or frames.",
  },
]
