import { describeValueRange, adviseOptionValue, adviseValueOfType } from "./value-advice.ts"
import { toExplainRules } from "./explain-rule.ts"
import type { ExplainRule } from "./explain-rule.ts"

/** Returns the error sentence, with advice, for an option that rejects its value. */
function explainRejectedValue(option: string, value: string): string {
  return `The option "-${option}" does not take "${value}": ${adviseOptionValue(option, value)}.`
}

/** Rules that explain failures because of wrong values of options. */
export const VALUE_EXPLAIN_RULES: readonly ExplainRule[] = [
  ...toExplainRules("invalid_option", [
    [
      /filename '([^']*)' does not contain an image sequence pattern|from pattern '([^']*)'. Use '-frames:v 1'/,
      (first, second) =>
        `"${first || second}" is one name for several pictures: write a pattern as frame_%03d.png for all of them, or -frames:v 1 for the first one.`,
    ],
    [
      /Invalid segment filename template '([^']*)'/,
      (name) =>
        `"${name}" is one name for many segments: write a number into it, as ${name.replace(/(\.\w+)?$/, "_%03d$1")}.`,
    ],
    [/Invalid loglevel "([^"]*)"/, (value) => explainRejectedValue("loglevel", value)],
    [
      /Value -\S+ for parameter 'durationi' out of range/,
      () => 'The option "-t" takes no time below 0: write the seconds to take, as -t 10.',
    ],
  ]),
  {
    code: "filter_error",
    pattern: /Value (-\S{1,40}) for parameter '(?:n|noise|threshold)' out of range/,
    sentence: (value) => {
      const decibels = value.replace(/\.?0+$/, "")
      return `The option "noise" does not take ${decibels}: write it in decibels, as ${decibels}dB.`
    },
  },
  ...toExplainRules("invalid_option", [
    [
      /Value (\S{1,40}) for parameter '([^']{1,80})' out of range \[(\S{1,40}) - (\S{1,40})\]/,
      (name, value, bounds) => `The option "${name}" does not take ${value}: write ${bounds}.`,
      {
        pick: ([value = "", name = "", least = "", most = ""]) => [
          name,
          value.replace(/\.?0+$/, ""),
          describeValueRange(least, most),
        ],
      },
    ],
    [
      /Unable to parse option value "([^"]*)" as ([a-z ]{1,20})$/,
      (value, type, option) =>
        `The option "${option}" does not take "${value}": ${option === "layout" || option === "loop" ? adviseOptionValue(option) : adviseValueOfType(type)}.`,
      { next: /Error (?:setting|applying) option '?(\w+)/ },
    ],
    [
      /Unable to parse option value "([^"]*)" as ([a-z ]{1,20})$/,
      (value, type) => `"${value}" is no ${type}: ${adviseValueOfType(type)}.`,
    ],
    [/Error setting option (\S+) to value (.*?)\.?$/, explainRejectedValue],
    [/Unable to parse "([^"]*)" option value "([^"]*)"/, explainRejectedValue],
    [/Expected (?:number|int64|int) for (\S{1,80}) but found:? (.+?)\.?$/, explainRejectedValue],
    [/Invalid duration (?:specification )?for (?:option )?(\S+): (.+?)\.?$/, explainRejectedValue],
    [
      /Invalid keyframe time: (.+?)\.?$/,
      (value) => explainRejectedValue("force_key_frames", value),
    ],
    [
      /Invalid frame size: (.+?)\.?$/,
      (value) => `"${value}" is not a frame size: ${adviseOptionValue("s")}.`,
    ],
    [
      /Invalid framerate value: (.+?)\.?$/,
      (value) => `"${value}" is not a frame rate: ${adviseOptionValue("r")}.`,
    ],
    [/Invalid aspect ratio: (.+?)\.?$/, (value) => explainRejectedValue("aspect", value)],
    [
      /Unknown pixel format requested: (.+?)\.?$/,
      (name) => `There is no pixel format "${name}": write one, as yuv420p.`,
    ],
    [
      /Invalid sample format '([^']*)'/,
      (name) => `There is no sample format "${name}": write one, as s16 or fltp.`,
    ],
    [
      /-to value smaller than -ss/,
      () =>
        '"-to" is not behind "-ss", and both count from the beginning: write a later -to, or -t for a length.',
    ],
    [
      /No '=' character in metadata string (.+?)\.?$/,
      (value) =>
        `The option "-metadata" does not take "${value}": write a name and a value, as title="My film".`,
    ],
    [
      /Invalid metadata type (.+?)\.?$/,
      (type) => `"-metadata:${type}" names no streams: write s before it, as -metadata:s:${type}.`,
    ],
    [
      /Invalid input file index (\d+) (?:in chapter mapping|while processing metadata maps)/,
      (index, _, __, { files }) => {
        const count = files.filter(({ kind }) => kind === "input").length
        const there = count === 1 ? "the only one is 0" : `they are 0 to ${count - 1}`
        return `A map of chapters or metadata asks for input ${index}, and inputs count from 0: ${there}; write -1 for none.`
      },
    ],
    [
      /Could not determine norm \(PAL/,
      (_, __, ___, { files }) => {
        const target = files.flatMap(({ options }) => options).find(({ name }) => name === "target")
        return explainRejectedValue("target", target?.value ?? "")
      },
    ],
    [
      /Invalid value '([^']*)' for option 'streamid'/,
      (value) => explainRejectedValue("streamid", value),
    ],
    [
      /invalid preset '([^']*)'/,
      (value) =>
        `The option "-preset" does not take "${value}": write one, as ultrafast, medium or veryslow.`,
    ],
    [
      /Error splitting the argument list: (.+?)\.?$/,
      (why) => `The command cannot be read: ${why}.`,
    ],
  ]),
]

/**
 * Rules for messages that say only that some value is wrong. These rules are tried after all
 * others, which name the cause more precisely.
 */
export const FALLBACK_VALUE_EXPLAIN_RULES: readonly ExplainRule[] = [
  {
    code: "invalid_option",
    pattern: /Failed to set value '([^']*)' for option '([^']*)'/,
    sentence: (value, option) => explainRejectedValue(option, value),
  },
  {
    code: "invalid_option",
    pattern: /Error parsing options for (input|output) file (.+?)\.?$/,
    sentence: (side, name) => `The options of the ${side} "${name}" are not valid.`,
  },
]
