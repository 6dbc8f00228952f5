import type { ExplainRule } from "./rule.ts"

const EVEN = "write even numbers, or -2 for a side that is to follow the other, as scale=640:-2"

/** What to write for what an encoder does not take, by the name that ffmpeg has for it. */
const INSTEAD: Record<string, string> = {
  "sample rate": "leave -ar out, or write one that it takes, as -ar 48000",
  "sample format": "leave -sample_fmt out",
  "pixel format": "leave -pix_fmt out, or write -pix_fmt yuv420p",
  "channel layout": "write -ac 2",
}

/** Rules for values and frames that encoders do not take. */
export const ENCODER_RULES: readonly ExplainRule[] = [
  {
    code: "invalid_option",
    pattern:
      /^\[(\w+)\] Specified (sample rate|sample format|pixel format|channel layout) (.{1,80}?) is (?:not|invalid or not) supported/,
    sentence: (encoder, what, value) =>
      `The encoder ${encoder} does not take the ${what} ${value}: ${INSTEAD[what]}.`,
  },
  {
    code: "invalid_option",
    pattern: /^\[(\w+)\] (?:width|height) not divisible by 2 \((\d+x\d+)\)/,
    sentence: (encoder, size) =>
      `The encoder ${encoder} takes even widths and heights alone, and these are ${size}: ${EVEN}.`,
  },
  {
    code: "invalid_option",
    pattern:
      /x265 \[error\]: Picture (width|height) must be an integer multiple of the specified chroma/,
    sentence: (side) =>
      `The encoder libx265 takes even widths and heights alone, and the ${side} is odd: ${EVEN}.`,
  },
  {
    code: "invalid_option",
    pattern: /x265 \[error\]: Valid quality based range/,
    sentence: () => 'The encoder libx265 does not take this "-crf": write 0 to 51, as -crf 28.',
  },
  {
    code: "invalid_option",
    pattern: /x26[45] \[error\]: (\w+) profile doesn't support (?:a )?(.+)$/,
    sentence: (profile, what) =>
      `The profile ${profile} has no ${what}: write -pix_fmt yuv420p, or leave -profile:v out.`,
  },
  {
    code: "invalid_option",
    pattern: /^\[\w+\] Possible profiles: (.+)$/,
    sentence: (profiles, _, __, { files }) => {
      const options = files.flatMap((file) => file.options)
      const given = options.findLast(({ name }) => name === "profile")?.value ?? ""
      return `The encoder does not take the profile "${given}" for these pictures: leave -profile:v out, or write one of ${profiles}; for most profiles the pictures have to be yuv420p, by -pix_fmt yuv420p.`
    },
  },
  {
    code: "invalid_option",
    pattern:
      /^\[libx264\] (?:invalid level_idc: (\d+)|Error parsing option 'level' with value '(.+)')/,
    sentence: (tenfold, value) =>
      `The encoder libx264 does not take the level ${value || Number(tenfold) / 10}: write a level of H.264, as 3.1, 4.0 or 4.2.`,
  },
  {
    code: "invalid_option",
    pattern: /The bit rate (\d+) bps is unsupported. Please choose a value between (\d+) and (\d+)/,
    sentence: (rate, least, most) =>
      Number(rate) < Number(least)
        ? `The encoder does not take so few bits a second as ${rate}: write ${rate}k.`
        : `The encoder does not take so many bits a second as ${rate}: write less, as 128k; it takes at most ${most}.`,
  },
  {
    code: "invalid_option",
    pattern: /Bitrate (\d+) is extremely low, maybe you mean \d+k/,
    next: /encoder setup failed/,
    sentence: (rate) =>
      `The encoder does not take so few bits a second as ${rate}: write ${rate}k.`,
  },
  {
    code: "invalid_option",
    pattern: /\[SWR\] Rematrix is needed between (.{1,80}?) and (\d+) channels/,
    sentence: (from, to) =>
      `There is no way to make ${to} channels of ${from}: write fewer, as -ac 2, or place them by the filter pan.`,
  },
  {
    code: "invalid_option",
    pattern: /The encoder '([^']*)' is experimental/,
    sentence: (name) =>
      `The encoder "${name}" is experimental: write -strict -2 before the output, or take another encoder.`,
  },
  {
    code: "invalid_option",
    pattern:
      /ratecontrol_init: can't open stats file|Error: ?2nd pass has no|Error reading log file/,
    sentence: () =>
      "A second pass reads what a first pass wrote, and there is none: give `ffmpeg_commands` with the same as -pass 1 -f null - first, or leave -pass out.",
  },
]

/** Rules for encoders that ffmpeg says little of, so that rules of filters and formats come before them. */
export const OTHER_ENCODER_RULES: readonly ExplainRule[] = [
  {
    code: "invalid_option",
    pattern: /^\[(\w+)\] (.+?)\.?$/,
    next: /Error while opening encoder/,
    isVague: true,
    sentence: (encoder, why) => `The encoder ${encoder} cannot work so: ${why}.`,
  },
  {
    code: "invalid_option",
    pattern: /Error while opening encoder/,
    isVague: true,
    sentence: () => "An encoder cannot work with the options and frames that it was given.",
  },
]
