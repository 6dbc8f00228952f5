import { expectedFor } from "./expected.ts"
import type { ExplainRule } from "./rule.ts"

const FILTER_LENGTH_MAX = 60
const SCALE_ONE = "scale one of them before, as"

/** Rules for filters of which the parts do not fit each other, or not the pictures and sound. */
const FITTING_RULES: readonly ExplainRule[] = [
  {
    code: "filter_error",
    pattern: /Invalid too big or non positive size for width '(-?\d+)' or height '(-?\d+)'/,
    sentence: (width, height) =>
      Number(width) > 0 && Number(height) > 0
        ? `The filter "crop" cuts ${width}x${height}, which is larger than the picture: crop less, as crop=iw/2:ih/2, or scale it before.`
        : `The filter "crop" cuts ${width}x${height}, which leaves nothing of the picture: write a size above 0, as crop=iw/2:ih/2.`,
  },
  {
    code: "filter_error",
    pattern: /Padded dimensions cannot be smaller than input dimensions/,
    sentence: () =>
      'The size of the filter "pad" is smaller than the picture: pad more, as pad=iw+20:ih+20, or scale the picture before.',
  },
  {
    code: "filter_error",
    pattern: /Picture size (\d+x\d+) is invalid/,
    sentence: (size) => `${size} is larger than ffmpeg makes pictures: write a smaller size.`,
  },
  {
    code: "filter_error",
    pattern: /Logo area is outside of the frame/,
    sentence: () =>
      'The area of the filter "delogo" is not within the picture: begin at x=1:y=1, and end before the edges.',
  },
  {
    code: "filter_error",
    pattern: /\[(?:Parsed_)?([a-z]+).*\] Option (\w+) was not set/,
    sentence: (filter, option) =>
      filter === "delogo"
        ? 'The filter "delogo" needs x, y, w and h: write delogo=x=10:y=10:w=80:h=40.'
        : `The filter "${filter}" needs ${option}: write ${option}= and a value.`,
  },
  {
    code: "filter_error",
    pattern: /^\[Parsed_([hv])stack_\d+\] Input \d+ \w+ (\d+) does not match input \d+ \w+ (\d+)/,
    sentence: (side, size, first) =>
      side === "h"
        ? `The inputs of the filter "hstack" need the same height, and have ${first} and ${size}: ${SCALE_ONE} scale=-2:${first}.`
        : `The inputs of the filter "vstack" need the same width, and have ${first} and ${size}: ${SCALE_ONE} scale=${first}:-2.`,
  },
  {
    code: "filter_error",
    pattern:
      /\(size (\d+x\d+)\) do not match the corresponding second input link (\w+) parameters \(size (\d+x\d+)\)/,
    sentence: (first, filter, second) =>
      `The inputs of the filter "${filter}" need the same size, and have ${first} and ${second}: ${SCALE_ONE} scale=${first.replace("x", ":")}.`,
  },
  {
    code: "filter_error",
    pattern:
      /^\[Parsed_(concat)_\d+\] Input link .{1,40} parameters \(size (\d+x\d+).*corresponding output link .{1,40} parameters \((\d+x\d+)/,
    sentence: (filter, size, first) =>
      `The inputs of the filter "${filter}" need the same size, and have ${first} and ${size}: ${SCALE_ONE} scale=${first.replace("x", ":")},setsar=1.`,
  },
  {
    code: "filter_error",
    pattern: /Either text, a valid file, a timecode or text source must be provided/,
    sentence: () =>
      'The filter "drawtext" has no text: write text=Hello, or textfile= and the key of an input.',
  },
  {
    code: "filter_error",
    pattern: /Both text and text file provided/,
    sentence: () =>
      "The filter \"drawtext\" has a text and a file of text: leave one of the two out; a colon within a text is written \\:, in a graph '…\\:…', as in text='10\\:30'.",
  },
  {
    code: "filter_error",
    pattern: /^\[Parsed_(\w+?)_\d+\] No filename provided/,
    sentence: (filter) =>
      `The filter "${filter}" names no file: write the key of one, as ${filter}={{in_2}}.`,
  },
  {
    code: "filter_error",
    pattern: /Unable to locate subtitle stream in (.+?)\.?$/,
    sentence: (file) =>
      `"${file}" has no subtitles to draw: give an .srt or .ass file as an input, or a film that has some.`,
  },
  {
    code: "filter_error",
    pattern: /^\[Parsed_scale_\d+\] Invalid size '([^']*)'/,
    sentence: (width) =>
      /^\d+p$/.test(width)
        ? `"${width}" is no size: write scale=-2:${width.slice(0, -1)} for a height, which keeps the shape.`
        : `The filter "scale" has a width ("${width}") and no height: write scale=${width}:-2 to keep the shape.`,
  },
  {
    code: "filter_error",
    pattern: /Number of delays (\d+) differs from number of decays (\d+)/,
    sentence: (delays, decays) =>
      `The filter "aecho" has ${delays} delays and ${decays} decays: write as many of each, with | between.`,
  },
  {
    code: "filter_error",
    pattern: /Invalid even size for (\w+) matrix size (\S+)/,
    sentence: (_, size) =>
      `The filter "unsharp" takes odd sizes, and ${size} is even: write odd ones, as 5.`,
  },
  {
    code: "filter_error",
    pattern: /Timeline \('enable' option\) not supported with filter '([^']*)'/,
    sentence: (filter) =>
      `The filter "${filter}" takes no enable=, since it cannot be switched on and off: leave that out.`,
  },
  {
    code: "filter_error",
    pattern: /Unrecognized '([^']*)' file type/,
    sentence: (extension) =>
      `A file with the extension ${extension} is no table of colors: give a .cube, .3dl, .dat, .m3d or .csp file.`,
  },
  {
    code: "filter_error",
    pattern: /Cannot find color '([^']*)'/,
    sentence: (name) => `There is no color "${name}": write one, as red or 0xFF8800.`,
  },
  {
    code: "filter_error",
    pattern: /Invalid 0xRRGGBB\[AA\] color string: '([^']*)'/,
    sentence: (value) =>
      `"${value}" is no color: write 6 or 8 hexadecimal digits, as 0xFF8800, or a name, as red.`,
  },
  {
    code: "filter_error",
    pattern: /Invalid pixel format '([^']*)'/,
    sentence: (name) => `There is no pixel format "${name}": write one, as yuv420p.`,
  },
  {
    code: "filter_error",
    pattern: /Error parsing (sample format|channel layout): (.+?)\.?$/,
    sentence: (what, name) =>
      `There is no ${what} "${name}": write one, as ${what === "sample format" ? "fltp or s16" : "stereo or 5.1"}.`,
  },
  {
    code: "invalid_option",
    pattern: /The encoder timebase is not set/,
    isVague: true,
    sentence: () =>
      "The filters give the encoder no frame: write more than 0 frames a second, as fps=25, and a time or size that leaves some.",
  },
]

/** Rules for filters and their options. */
export const FILTER_RULES: readonly ExplainRule[] = [
  ...FITTING_RULES,
  {
    code: "filter_error",
    pattern: /No such filter: '([^']*)'/,
    sentence: (name) =>
      `There is no filter "${name}": write one that there is; within values , and ; are written \\, and \\;.`,
  },
  {
    code: "filter_error",
    pattern: /^\[AVFilterGraph\] No option name near '([^']*)'/,
    later: /Error parsing filterchain '([^']*)/,
    pick: ([values = "", chain = ""]) => {
      const [before = "", after] = chain.split(`=${values}`, 2)
      const name = /[a-z0-9_]+$/.exec(before.slice(-FILTER_LENGTH_MAX))?.[0]
      return after === undefined || name === undefined ? null : [values, name]
    },
    sentence: (values, name) =>
      `There is no filter "${name}", or it does not take "${values}": leave out what is too many.`,
  },
  {
    code: "filter_error",
    pattern: /No option name near '([^']*)'/,
    sentence: (value) =>
      `"${value}" is one value too many for its filter: leave it out, or give it a name; a colon within a text is written \\:, in a graph '…\\:…', as in text='10\\:30'.`,
  },
  {
    code: "filter_error",
    pattern: /^\[(\w+)_bsf\] Option '([^']*)' not found/,
    sentence: (filter, option) =>
      `The bitstream filter "${filter}" has no option "${option}": leave it out.`,
  },
  {
    code: "filter_error",
    pattern: /Error parsing bitstream filter sequence '([^']*)'/,
    sentence: (name) =>
      `There is no bitstream filter "${name}", or its options are not valid: leave it out, or write one, as h264_mp4toannexb.`,
  },
  {
    code: "filter_error",
    pattern:
      /Codec '([^']*)' \(\d+\) is not supported by the bitstream filter '([^']*)'. Supported codecs are: (\S+)/,
    sentence: (codec, filter, takes) =>
      `The bitstream filter "${filter}" is for ${takes}, and the stream is ${codec}: write it behind -bsf:v for pictures and -bsf:a for sound, or leave it out.`,
  },
  {
    code: "filter_error",
    pattern: /Error applying option '([^']*)' to filter '([^']*)': Option not found/,
    sentence: (option, filter) =>
      `The filter "${filter}" has no option "${option}": leave it out, or write one that it has.`,
  },
  {
    code: "filter_error",
    pattern: /^\[(?:Parsed_)?([a-z0-9]+?)(?:_\d+)?\] Option '([^']*)' not found/,
    sentence: (filter, option) =>
      `The filter "${filter}" has no option "${option}": leave it out, or write one that it has.`,
  },
  {
    code: "filter_error",
    pattern: /\[FILE\] Cannot read file '([^']*)'/,
    sentence: (file) =>
      `A filter reads "${file}", and there is no file of this name: give the file as an input and write its key there, as {{in_2}}.`,
  },
  {
    code: "filter_error",
    pattern: /^\[Parsed_([a-z0-9_]+?)_\d+\] (?:Unable to open|Could not open|Failed to open) (.+)$/,
    sentence: (filter, file) =>
      `The filter "${filter}" cannot open "${file}": give the file as an input and write its key there.`,
  },
  {
    code: "filter_error",
    pattern: /^\[Parsed_([a-z0-9_]+?)_\d+\] (.+): (?:No such file or directory|cannot be opened)$/,
    sentence: (filter, file) =>
      `The filter "${filter}" cannot open "${file}": give the file as an input and write its key there.`,
  },
  {
    code: "filter_error",
    pattern: /Error applying option '([^']*)' to filter '([^']*)': (.+)$/,
    sentence: (option, filter, why) =>
      `Option "${option}" of the filter "${filter}": ${why}: ${expectedFor(option)}.`,
  },
  {
    code: "filter_error",
    pattern:
      /^\[Parsed_([a-z0-9_]+?)_\d+\] (.*(?:nvalid|rror|ailed|nable|annot|not |oo large).*?)\.?$/,
    sentence: (filter, why) => `The filter "${filter}" failed: ${why}.`,
  },
  {
    code: "filter_error",
    pattern: /^\[Parsed_([a-z0-9_]+?)_\d+\] (.+?)\.?$/,
    next: /Error initializing filter/,
    sentence: (filter, why) => `The filter "${filter}" failed: ${why}.`,
  },
  {
    code: "filter_error",
    pattern: /Error initializing filter '([^']*)'(?: with args '(.*)')?/,
    sentence: (filter, values) => `The filter "${filter}" does not take "${values}".`,
  },
  {
    code: "filter_error",
    pattern:
      /Error (?:re)?(?:initializing|configuring|processing|parsing)(?: an?)?(?: simple| complex)? filter|Failed to inject frame into filter network|No output pad can be associated/,
    sentence: () => "The filters of the command cannot be set up.",
  },
]
