import { describeBounds, expectedFor, expectedOfType } from "./expected.ts"
import type { ExplainRule } from "./rule.ts"

/** The sentence of an option that does not take its value. */
function doesNotTake(option: string, value: string): string {
  return `The option "-${option}" does not take "${value}": ${expectedFor(option, value)}.`
}

/** Rules for the values of options. */
export const VALUE_RULES: readonly ExplainRule[] = [
  {
    code: "invalid_option",
    pattern:
      /filename '([^']*)' does not contain an image sequence pattern|from pattern '([^']*)'. Use '-frames:v 1'/,
    sentence: (first, second) =>
      `"${first || second}" is one name for several pictures: write a pattern as frame_%03d.png for all of them, or -frames:v 1 for the first one.`,
  },
  {
    code: "invalid_option",
    pattern: /Invalid segment filename template '([^']*)'/,
    sentence: (name) =>
      `"${name}" is one name for many segments: write a number into it, as ${name.replace(/(\.\w+)?$/, "_%03d$1")}.`,
  },
  {
    code: "invalid_option",
    pattern: /Invalid loglevel "([^"]*)"/,
    sentence: (value) => doesNotTake("loglevel", value),
  },
  {
    code: "invalid_option",
    pattern: /Value -\S+ for parameter 'durationi' out of range/,
    sentence: () => 'The option "-t" takes no time below 0: write the seconds to take, as -t 10.',
  },
  {
    code: "filter_error",
    pattern: /Value (-\S{1,40}) for parameter '(?:n|noise|threshold)' out of range/,
    sentence: (value) => {
      const decibels = value.replace(/\.?0+$/, "")
      return `The option "noise" does not take ${decibels}: write it in decibels, as ${decibels}dB.`
    },
  },
  {
    code: "invalid_option",
    pattern:
      /Value (\S{1,40}) for parameter '([^']{1,80})' out of range \[(\S{1,40}) - (\S{1,40})\]/,
    pick: ([value = "", name = "", least = "", most = ""]) => [
      name,
      value.replace(/\.?0+$/, ""),
      describeBounds(least, most),
    ],
    sentence: (name, value, bounds) =>
      `The option "${name}" does not take ${value}: write ${bounds}.`,
  },
  {
    code: "invalid_option",
    pattern: /Unable to parse option value "([^"]*)" as ([a-z ]{1,20})$/,
    next: /Error (?:setting|applying) option '?(\w+)/,
    sentence: (value, type, option) =>
      `The option "${option}" does not take "${value}": ${option === "layout" || option === "loop" ? expectedFor(option) : expectedOfType(type)}.`,
  },
  {
    code: "invalid_option",
    pattern: /Unable to parse option value "([^"]*)" as ([a-z ]{1,20})$/,
    sentence: (value, type) => `"${value}" is no ${type}: ${expectedOfType(type)}.`,
  },
  {
    code: "invalid_option",
    pattern: /Error setting option (\S+) to value (.*?)\.?$/,
    sentence: doesNotTake,
  },
  {
    code: "invalid_option",
    pattern: /Unable to parse "([^"]*)" option value "([^"]*)"/,
    sentence: doesNotTake,
  },
  {
    code: "invalid_option",
    pattern: /Expected (?:number|int64|int) for (\S{1,80}) but found:? (.+?)\.?$/,
    sentence: doesNotTake,
  },
  {
    code: "invalid_option",
    pattern: /Invalid duration (?:specification )?for (?:option )?(\S+): (.+?)\.?$/,
    sentence: doesNotTake,
  },
  {
    code: "invalid_option",
    pattern: /Invalid keyframe time: (.+?)\.?$/,
    sentence: (value) => doesNotTake("force_key_frames", value),
  },
  {
    code: "invalid_option",
    pattern: /Invalid frame size: (.+?)\.?$/,
    sentence: (value) => `"${value}" is not a frame size: ${expectedFor("s")}.`,
  },
  {
    code: "invalid_option",
    pattern: /Invalid framerate value: (.+?)\.?$/,
    sentence: (value) => `"${value}" is not a frame rate: ${expectedFor("r")}.`,
  },
  {
    code: "invalid_option",
    pattern: /Invalid aspect ratio: (.+?)\.?$/,
    sentence: (value) => doesNotTake("aspect", value),
  },
  {
    code: "invalid_option",
    pattern: /Unknown pixel format requested: (.+?)\.?$/,
    sentence: (name) => `There is no pixel format "${name}": write one, as yuv420p.`,
  },
  {
    code: "invalid_option",
    pattern: /Invalid sample format '([^']*)'/,
    sentence: (name) => `There is no sample format "${name}": write one, as s16 or fltp.`,
  },
  {
    code: "invalid_option",
    pattern: /-to value smaller than -ss/,
    sentence: () =>
      '"-to" is not behind "-ss", and both count from the beginning: write a later -to, or -t for a length.',
  },
  {
    code: "invalid_option",
    pattern: /No '=' character in metadata string (.+?)\.?$/,
    sentence: (value) =>
      `The option "-metadata" does not take "${value}": write a name and a value, as title="My film".`,
  },
  {
    code: "invalid_option",
    pattern: /Invalid metadata type (.+?)\.?$/,
    sentence: (type) =>
      `"-metadata:${type}" names no streams: write s before it, as -metadata:s:${type}.`,
  },
  {
    code: "invalid_option",
    pattern: /Invalid input file index (\d+) (?:in chapter mapping|while processing metadata maps)/,
    sentence: (index, _, __, { files }) => {
      const count = files.filter(({ kind }) => kind === "input").length
      const there = count === 1 ? "the only one is 0" : `they are 0 to ${count - 1}`
      return `A map of chapters or metadata asks for input ${index}, and inputs count from 0: ${there}; write -1 for none.`
    },
  },
  {
    code: "invalid_option",
    pattern: /Could not determine norm \(PAL/,
    sentence: (_, __, ___, { files }) => {
      const target = files.flatMap(({ options }) => options).find(({ name }) => name === "target")
      return doesNotTake("target", target?.value ?? "")
    },
  },
  {
    code: "invalid_option",
    pattern: /Invalid value '([^']*)' for option 'streamid'/,
    sentence: (value) => doesNotTake("streamid", value),
  },
  {
    code: "invalid_option",
    pattern: /invalid preset '([^']*)'/,
    sentence: (value) =>
      `The option "-preset" does not take "${value}": write one, as ultrafast, medium or veryslow.`,
  },
  {
    code: "invalid_option",
    pattern: /Error splitting the argument list: (.+?)\.?$/,
    sentence: (why) => `The command cannot be read: ${why}.`,
  },
]

/** Rules for values of which ffmpeg says nothing more, so that all others come before them. */
export const OTHER_VALUE_RULES: readonly ExplainRule[] = [
  {
    code: "invalid_option",
    pattern: /Failed to set value '([^']*)' for option '([^']*)'/,
    sentence: (value, option) => doesNotTake(option, value),
  },
  {
    code: "invalid_option",
    pattern: /Error parsing options for (input|output) file (.+?)\.?$/,
    sentence: (side, name) => `The options of the ${side} "${name}" are not valid.`,
  },
]
