import { adviseOptionValue } from "./value-advice.ts"
import { toExplainRules } from "./explain-rule.ts"
import type { ExplainRule } from "./explain-rule.ts"

const FILTER_LENGTH_MAX = 60
const SCALE_ADVICE = "scale one of them before, as"

/**
 * Rules that explain failures because of filters that are incompatible with each other, or with the
 * type of their media.
 */
const FITTING_RULES: readonly ExplainRule[] = [
  ...toExplainRules("filter_error", [
    [
      /Invalid too big or non positive size for width '(-?\d+)' or height '(-?\d+)'/,
      (width, height) =>
        Number(width) > 0 && Number(height) > 0
          ? `The filter "crop" cuts ${width}x${height}, which is larger than the picture: crop less, as crop=iw/2:ih/2, or scale it before.`
          : `The filter "crop" cuts ${width}x${height}, which leaves nothing of the picture: write a size above 0, as crop=iw/2:ih/2.`,
    ],
    [
      /Padded dimensions cannot be smaller than input dimensions/,
      () =>
        'The size of the filter "pad" is smaller than the picture: pad more, as pad=iw+20:ih+20, or scale the picture before.',
    ],
    [
      /Picture size (\d+x\d+) is invalid/,
      (size) => `${size} is larger than the largest picture of ffmpeg: write a smaller size.`,
    ],
    [
      /Logo area is outside of the frame/,
      () =>
        'The area of the filter "delogo" is not within the picture: begin at x=1:y=1, and end before the edges.',
    ],
    [
      /\[(?:Parsed_)?([a-z]+).*\] Option (\w+) was not set/,
      (filter, option) =>
        filter === "delogo"
          ? 'The filter "delogo" needs x, y, w and h: write delogo=x=10:y=10:w=80:h=40.'
          : `The filter "${filter}" needs ${option}: write ${option}= and a value.`,
    ],
    [
      /^\[Parsed_([hv])stack_\d+\] Input \d+ \w+ (\d+) does not match input \d+ \w+ (\d+)/,
      (side, size, first) =>
        side === "h"
          ? `The inputs of the filter "hstack" need the same height, and have ${first} and ${size}: ${SCALE_ADVICE} scale=-2:${first}.`
          : `The inputs of the filter "vstack" need the same width, and have ${first} and ${size}: ${SCALE_ADVICE} scale=${first}:-2.`,
    ],
    [
      /\(size (\d+x\d+)\) do not match the corresponding second input link (\w+) parameters \(size (\d+x\d+)\)/,
      (first, filter, second) =>
        `The inputs of the filter "${filter}" need the same size, and have ${first} and ${second}: ${SCALE_ADVICE} scale=${first.replace("x", ":")}.`,
    ],
    [
      /^\[Parsed_(concat)_\d+\] Input link .{1,40} parameters \(size (\d+x\d+).*corresponding output link .{1,40} parameters \((\d+x\d+)/,
      (filter, size, first) =>
        `The inputs of the filter "${filter}" need the same size, and have ${first} and ${size}: ${SCALE_ADVICE} scale=${first.replace("x", ":")},setsar=1.`,
    ],
    [
      /Either text, a valid file, a timecode or text source must be provided/,
      () =>
        'The filter "drawtext" has no text: write text=Hello, or textfile= and the key of an input.',
    ],
    [
      /Both text and text file provided/,
      () =>
        "The filter \"drawtext\" has a text and a file of text: leave one of the two out; a colon within a text is written \\:, in a graph '…\\:…', as in text='10\\:30'.",
    ],
    [
      /^\[Parsed_(\w+?)_\d+\] No filename provided/,
      (filter) =>
        `The filter "${filter}" names no file: write the key of one, as ${filter}={{in_2}}.`,
    ],
    [
      /Unable to locate subtitle stream in (.+?)\.?$/,
      (file) =>
        `"${file}" has no subtitles to draw: give an .srt or .ass file as an input, or a film that has some.`,
    ],
    [
      /^\[Parsed_scale_\d+\] Invalid size '([^']*)'/,
      (width) =>
        /^\d+p$/.test(width)
          ? `"${width}" is no size: write scale=-2:${width.slice(0, -1)} for a height, which keeps the shape.`
          : `The filter "scale" has a width ("${width}") and no height: write scale=${width}:-2 to keep the shape.`,
    ],
    [
      /Number of delays (\d+) differs from number of decays (\d+)/,
      (delays, decays) =>
        `The filter "aecho" has ${delays} delays and ${decays} decays: write as many of each, with | between.`,
    ],
    [
      /Invalid even size for (\w+) matrix size (\S+)/,
      (_, size) =>
        `The filter "unsharp" takes odd sizes, and ${size} is even: write odd ones, as 5.`,
    ],
    [
      /Timeline \('enable' option\) not supported with filter '([^']*)'/,
      (filter) =>
        `The filter "${filter}" takes no enable=, since it cannot be switched on and off: leave that out.`,
    ],
    [
      /Unrecognized '([^']*)' file type/,
      (extension) =>
        `A file with the extension ${extension} is no table of colors: give a .cube, .3dl, .dat, .m3d or .csp file.`,
    ],
    [
      /Cannot find color '([^']*)'/,
      (name) => `There is no color "${name}": write one, as red or 0xFF8800.`,
    ],
    [
      /Invalid 0xRRGGBB\[AA\] color string: '([^']*)'/,
      (value) =>
        `"${value}" is no color: write 6 or 8 hexadecimal digits, as 0xFF8800, or a name, as red.`,
    ],
    [
      /Invalid pixel format '([^']*)'/,
      (name) => `There is no pixel format "${name}": write one, as yuv420p.`,
    ],
    [
      /Error parsing (sample format|channel layout): (.+?)\.?$/,
      (what, name) =>
        `There is no ${what} "${name}": write one, as ${what === "sample format" ? "fltp or s16" : "stereo or 5.1"}.`,
    ],
  ]),
  {
    code: "invalid_option",
    pattern: /The encoder timebase is not set/,
    isVague: true,
    sentence: () =>
      "The encoder received no frame from the filters: write more than 0 frames a second, as fps=25, and a time or size that leaves some.",
  },
]

/** Rules that explain failures because of wrong filters or wrong options of filters. */
export const FILTER_EXPLAIN_RULES: readonly ExplainRule[] = [
  ...FITTING_RULES,
  ...toExplainRules("filter_error", [
    [
      /No such filter: '([^']*)'/,
      (name) =>
        `There is no filter "${name}": write one that there is; within values , and ; are written \\, and \\;.`,
    ],
    [
      /^\[AVFilterGraph\] No option name near '([^']*)'/,
      (values, name) =>
        `There is no filter "${name}", or it does not take "${values}": leave out what is too many.`,
      {
        later: /Error parsing filterchain '([^']*)/,
        pick: ([values = "", chain = ""]) => {
          const [before = "", after] = chain.split(`=${values}`, 2)
          const name = /[a-z0-9_]+$/.exec(before.slice(-FILTER_LENGTH_MAX))?.[0]
          return after === undefined || name === undefined ? null : [values, name]
        },
      },
    ],
    [
      /No option name near '([^']*)'/,
      (value) =>
        `"${value}" is one value too many for its filter: leave it out, or give it a name; a colon within a text is written \\:, in a graph '…\\:…', as in text='10\\:30'.`,
    ],
    [
      /^\[(\w+)_bsf\] Option '([^']*)' not found/,
      (filter, option) =>
        `The bitstream filter "${filter}" has no option "${option}": leave it out.`,
    ],
    [
      /Error parsing bitstream filter sequence '([^']*)'/,
      (name) =>
        `There is no bitstream filter "${name}", or its options are not valid: leave it out, or write one, as h264_mp4toannexb.`,
    ],
    [
      /Codec '([^']*)' \(\d+\) is not supported by the bitstream filter '([^']*)'. Supported codecs are: (\S+)/,
      (codec, filter, takes) =>
        `The bitstream filter "${filter}" is for ${takes}, and the stream is ${codec}: write it behind -bsf:v for pictures and -bsf:a for sound, or leave it out.`,
    ],
    [
      /Error applying option '([^']*)' to filter '([^']*)': Option not found/,
      (option, filter) =>
        `The filter "${filter}" has no option "${option}": leave it out, or write one that it has.`,
    ],
    [
      /^\[(?:Parsed_)?([a-z0-9]+?)(?:_\d+)?\] Option '([^']*)' not found/,
      (filter, option) =>
        `The filter "${filter}" has no option "${option}": leave it out, or write one that it has.`,
    ],
    [
      /\[FILE\] Cannot read file '([^']*)'/,
      (file) =>
        `A filter reads "${file}", and there is no file of this name: give the file as an input and write its key there, as {{in_2}}.`,
    ],
    [
      /^\[Parsed_(subtitles|ass)_\d+\] Unable to open (.+)$/,
      (filter, file) =>
        `The filter "${filter}" cannot open "${file}": give a file with captions as an input and write its key there. An SRT file without captions cannot be opened, a VTT file can.`,
    ],
    [
      /^\[Parsed_([a-z0-9_]+?)_\d+\] (?:Unable to open|Could not open|Failed to open) (.+)$/,
      (filter, file) =>
        `The filter "${filter}" cannot open "${file}": give the file as an input and write its key there.`,
    ],
    [
      /^\[Parsed_([a-z0-9_]+?)_\d+\] (.+): (?:No such file or directory|cannot be opened)$/,
      (filter, file) =>
        `The filter "${filter}" cannot open "${file}": give the file as an input and write its key there.`,
    ],
    [
      /Error applying option '([^']*)' to filter '([^']*)': (.+)$/,
      (option, filter, why) =>
        `Option "${option}" of the filter "${filter}": ${why}: ${adviseOptionValue(option)}.`,
    ],
    [
      /^\[Parsed_([a-z0-9_]+?)_\d+\] (.*(?:nvalid|rror|ailed|nable|annot|not |oo large).*?)\.?$/,
      (filter, why) => `The filter "${filter}" failed: ${why}.`,
    ],
    [
      /^\[Parsed_([a-z0-9_]+?)_\d+\] (.+?)\.?$/,
      (filter, why) => `The filter "${filter}" failed: ${why}.`,
      { next: /Error initializing filter/ },
    ],
    [
      /Error initializing filter '([^']*)'(?: with args '(.*)')?/,
      (filter, values) => `The filter "${filter}" does not take "${values}".`,
    ],
    [
      /Error (?:re)?(?:initializing|configuring|processing|parsing)(?: an?)?(?: simple| complex)? filter|Failed to inject frame into filter network|No output pad can be associated/,
      () => "The filters of the command cannot be set up.",
    ],
  ]),
]
