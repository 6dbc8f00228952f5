import { toExplainRules } from "./explain-rule.ts"
import type { ExplainRule } from "./explain-rule.ts"

const MEDIA: Record<string, string> = { audio: "sound", video: "pictures" }

/** Audio filters that correspond to video filters, by the name of the video filter. */
const AUDIO_COUNTERPARTS: Record<string, string> = {
  normalize: "loudnorm",
  fade: "afade",
  trim: "atrim",
  setpts: "asetpts",
  reverse: "areverse",
  format: "aformat",
  loop: "aloop",
}

/** Rules that explain failures because of wrong inputs or outputs of a filter graph. */
export const GRAPH_EXPLAIN_RULES: readonly ExplainRule[] = [
  ...toExplainRules("filter_error", [
    [
      /Simple filtergraph '(.*)' was expected to have exactly 1 input and 1 output. However, it had /,
      (graph) =>
        `The filters "${graph}" do not have one input and one output, as those of one stream have to: use -filter_complex with labels, as [0:v][1:v].`,
    ],
    [
      /Filtergraph has an? (audio|video) output, cannot connect it to|Cannot connect (audio|video) filter to|Tried to connect \w+ stream to (audio|video) filtergraph/,
      (outputMedium, filterMedium, graphMedium, { files }) => {
        const medium = MEDIA[outputMedium || filterMedium || graphMedium] ?? "another medium"
        const option = medium === "sound" ? "-af" : "-vf"
        const filters = files.flatMap(({ options }) =>
          options.flatMap(({ word, value }) =>
            /^-(?:af|filter:a)/.test(word) ? (value ?? "") : [],
          ),
        )
        const name = /^\w+/.exec(filters[0] ?? "")?.[0] ?? ""
        const other = Object.hasOwn(AUDIO_COUNTERPARTS, name) ? AUDIO_COUNTERPARTS[name] : undefined
        const instead = other === undefined ? "" : `; for sound there is ${other}`
        return `These filters are for ${medium}: put them into ${option}, or write them in -filter_complex with labels where they make one medium of another, as "[0:a]showwavespic=…"${instead}.`
      },
    ],
    [
      /Media type mismatch between the '(?:Parsed_)?(\w+?)(?:_\d+)?' filter output pad \d+ \((audio|video)\) and the '(?:Parsed_)?(\w+?)(?:_\d+)?' filter/,
      (filter, medium, next) =>
        `The filter "${filter}" makes ${MEDIA[medium]}, and the filter "${next}" behind it takes another medium: put each into a graph of its own medium, -vf or -af.`,
    ],
    [
      /No output pad can be associated to link label '([^']*)'/,
      (label) =>
        `A filter has fewer outputs than labels behind it: leave out [${label}], or make more outputs by split or asplit.`,
    ],
    [
      /More output link labels specified for filter '([^']*)' than it has outputs: (\d+) > (\d+)/,
      (filter, labels, outputs) =>
        `The filter "${filter}" has fewer outputs (${outputs}) than labels behind it (${labels}): leave out the last of them, or make more outputs by split or asplit.`,
    ],
    [
      /Too many inputs specified for the "?([a-z0-9_]+)"? filter/,
      (filter) =>
        `The filter "${filter}" has fewer inputs than are given: leave out what is too many, or write ; for , before it.`,
    ],
    [
      /More input link labels specified for filter '([^']*)' than it has inputs: (\d+) > (\d+)/,
      (filter, given, inputs) =>
        `The filter "${filter}" has fewer inputs (${inputs}) than are given (${given}): leave out what is too many, or write ; for , before it.`,
    ],
    [
      /Filter '?([a-z0-9_]+)\b.* has (?:an unconnected output|output .{1,60} unconnected)/,
      (filter) =>
        `The filter "${filter}" has an output that goes nowhere: write -map with its label before the output that it is for, or leave the label out.`,
    ],
    [
      /-filter_complex cannot be used together|Filtergraph '(.*)' was specified(?: through the \S+ option)? for (?:a stream|output stream \S+) fed from a complex/,
      () =>
        "A stream that comes of -filter_complex takes no -vf, -af or -filter: put those filters into that graph, before the label that is mapped.",
    ],
    [
      /Unable to parse graph description substring: "(.*)"/,
      (text) =>
        `The graph cannot be read at "${text}": write , or ; between filters, and ] behind each label.`,
    ],
  ]),
  {
    code: "invalid_option",
    pattern: /Filtering and streamcopy cannot be used together/,
    sentence: () =>
      "A stream that is copied cannot be filtered, and what a graph makes cannot be copied: choose an encoder for it, or leave the filter out.",
  },
]
