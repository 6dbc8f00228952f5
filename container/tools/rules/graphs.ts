import type { ExplainRule } from "./rule.ts"

const MEDIA: Record<string, string> = { audio: "sound", video: "pictures" }

/** Filters of sound that do what filters of pictures do. */
const OF_SOUND: Record<string, string> = {
  normalize: "loudnorm",
  fade: "afade",
  trim: "atrim",
  setpts: "asetpts",
  reverse: "areverse",
  format: "aformat",
  loop: "aloop",
}

/** Rules for the shape of filter graphs: what goes into filters, and what comes out. */
export const GRAPH_RULES: readonly ExplainRule[] = [
  {
    code: "filter_error",
    pattern:
      /Simple filtergraph '(.*)' was expected to have exactly 1 input and 1 output. However, it had /,
    sentence: (graph) =>
      `The filters "${graph}" do not have one input and one output, as those of one stream have to: use -filter_complex with labels, as [0:v][1:v].`,
  },
  {
    code: "filter_error",
    pattern:
      /Filtergraph has an? (audio|video) output, cannot connect it to|Cannot connect (audio|video) filter to|Tried to connect \w+ stream to (audio|video) filtergraph/,
    sentence: (made, filter, taken, { files }) => {
      const medium = MEDIA[made || filter || taken] ?? "another medium"
      const option = medium === "sound" ? "-af" : "-vf"
      const filters = files.flatMap(({ options }) =>
        options.flatMap(({ word, value }) => (/^-(?:af|filter:a)/.test(word) ? (value ?? "") : [])),
      )
      const name = /^\w+/.exec(filters[0] ?? "")?.[0] ?? ""
      const other = Object.hasOwn(OF_SOUND, name) ? OF_SOUND[name] : undefined
      const instead = other === undefined ? "" : `; for sound there is ${other}`
      return `These filters are for ${medium}: put them into ${option}, or write them in -filter_complex with labels where they make one medium of another, as "[0:a]showwavespic=…"${instead}.`
    },
  },
  {
    code: "filter_error",
    pattern:
      /Media type mismatch between the '(?:Parsed_)?(\w+?)(?:_\d+)?' filter output pad \d+ \((audio|video)\) and the '(?:Parsed_)?(\w+?)(?:_\d+)?' filter/,
    sentence: (filter, medium, next) =>
      `The filter "${filter}" makes ${MEDIA[medium]}, and the filter "${next}" behind it takes another medium: put each into a graph of its own medium, -vf or -af.`,
  },
  {
    code: "filter_error",
    pattern: /No output pad can be associated to link label '([^']*)'/,
    sentence: (label) =>
      `A filter has fewer outputs than labels behind it: leave out [${label}], or make more outputs by split or asplit.`,
  },
  {
    code: "filter_error",
    pattern:
      /More output link labels specified for filter '([^']*)' than it has outputs: (\d+) > (\d+)/,
    sentence: (filter, labels, outputs) =>
      `The filter "${filter}" has fewer outputs (${outputs}) than labels behind it (${labels}): leave out the last of them, or make more outputs by split or asplit.`,
  },
  {
    code: "filter_error",
    pattern: /Too many inputs specified for the "?([a-z0-9_]+)"? filter/,
    sentence: (filter) =>
      `The filter "${filter}" has fewer inputs than are given: leave out what is too many, or write ; for , before it.`,
  },
  {
    code: "filter_error",
    pattern:
      /More input link labels specified for filter '([^']*)' than it has inputs: (\d+) > (\d+)/,
    sentence: (filter, given, inputs) =>
      `The filter "${filter}" has fewer inputs (${inputs}) than are given (${given}): leave out what is too many, or write ; for , before it.`,
  },
  {
    code: "filter_error",
    pattern: /Filter '?([a-z0-9_]+)\b.* has (?:an unconnected output|output .{1,60} unconnected)/,
    sentence: (filter) =>
      `The filter "${filter}" has an output that goes nowhere: write -map with its label before the output that it is for, or leave the label out.`,
  },
  {
    code: "filter_error",
    pattern:
      /-filter_complex cannot be used together|Filtergraph '(.*)' was specified(?: through the \S+ option)? for (?:a stream|output stream \S+) fed from a complex/,
    sentence: () =>
      "A stream that comes of -filter_complex takes no -vf, -af or -filter: put those filters into that graph, before the label that is mapped.",
  },
  {
    code: "filter_error",
    pattern: /Unable to parse graph description substring: "(.*)"/,
    sentence: (text) =>
      `The graph cannot be read at "${text}": write , or ; between filters, and ] behind each label.`,
  },
  {
    code: "invalid_option",
    pattern: /Filtering and streamcopy cannot be used together/,
    sentence: () =>
      "A stream that is copied cannot be filtered, and what a graph makes cannot be copied: choose an encoder for it, or leave the filter out.",
  },
]
