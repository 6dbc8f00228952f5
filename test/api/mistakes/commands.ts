import { command } from "./mistake.ts"
import type { Mistake } from "./mistake.ts"

/** A mistake in the command of a create; the command omits the program's name. */
function mistaken(
  mistake: string,
  line: string,
  { code, words, ...more }: Pick<Mistake, "code" | "words"> & { output?: string },
): Mistake {
  const { output = "out.mp4" } = more
  const changes = { ffmpeg_command: `ffmpeg ${line}`, output_files: { out_1: output } }
  const [path, status, field] = ["/commands", 422, "ffmpeg_command"] as const
  return { mistake, path, status, field, code, words, init: command(changes) }
}

const UPLOAD = ["upload", "POST /v1/files", "{{in_1}}"]

/** Mistakes in place of an input's key. */
const INPUTS: Mistake[] = [
  mistaken("a bare id", "-i 0198f0b2-7c11-7cc3-9f3e-0a6b3d2f1a11 {{out_1}}", {
    code: "unknown_key",
    words: ["svc_id://0198f0b2-7c11-7cc3-9f3e-0a6b3d2f1a11"],
  }),
  mistaken("a URL", "-i https://example.com/a.mp4 {{out_1}}", {
    code: "url_not_allowed",
    words: ["put the URL in input_files"],
  }),
  mistaken("a path of Windows", String.raw`-i C:\Users\me\lesson1.mp4 {{out_1}}`, {
    code: "path_not_allowed",
    words: ["your own machine", ...UPLOAD],
  }),
  mistaken("a path of a home", "-i /home/me/lesson1.mp4 {{out_1}}", {
    code: "path_not_allowed",
    words: ["your own machine", ...UPLOAD],
  }),
  mistaken("a file's name", "-i lesson1.mp4 {{out_1}}", {
    code: "unknown_key",
    words: ["no file of this name", ...UPLOAD],
  }),
  mistaken("a slip in a key", "-f lavfi -i testsrc2=d=1 {{out1}}", {
    code: "unknown_key",
    words: ["out1", "did you mean `{{out_1}}`?"],
  }),
  mistaken("one brace", "-i {in_1} {{out_1}}", {
    code: "value_not_allowed",
    words: ["double braces", "{{in_1}}"],
  }),
  mistaken(
    "a text file that is not there",
    "-f lavfi -i color=d=1 -vf drawtext=textfile=t.txt {{out_1}}",
    {
      code: "unknown_key",
      words: ["drawtext", "t.txt", "input_files"],
    },
  ),
]

/** Mistakes by shells and editors. */
const WORDS: Mistake[] = [
  mistaken("a variable of a shell", "-f lavfi -i testsrc2=d=1 -b:v $RATE {{out_1}}", {
    code: "value_not_allowed",
    words: ["$RATE", "no shell"],
  }),
  mistaken("curly quotes", "-f lavfi -i testsrc2=d=1 -vf “scale=80:60” {{out_1}}", {
    code: "name_not_allowed",
    words: ["typographic quotes"],
  }),
  mistaken("an en dash", "-f lavfi -i testsrc2=d=1 –crf 20 {{out_1}}", {
    code: "name_not_allowed",
    words: ["typographic dash"],
  }),
]

/** Misspelled names of options, filters and codecs. */
const NAMES: Mistake[] = [
  mistaken("an option", "-f lavfi -i testsrc2=d=1 -prset fast {{out_1}}", {
    code: "invalid_option",
    words: ["did you mean `-preset`?"],
  }),
  mistaken("a filter", "-f lavfi -i testsrc2=d=1 -vf sclae=80:60 {{out_1}}", {
    code: "filter_error",
    words: ["did you mean `scale`?"],
  }),
  mistaken("an encoder", "-f lavfi -i testsrc2=d=1 -c:v libx246 {{out_1}}", {
    code: "encoder_not_found",
    words: ["did you mean `libx264`?"],
  }),
  mistaken("a decoder", "-f lavfi -c:v rawvidoe -i testsrc2=d=1 {{out_1}}", {
    code: "decoder_not_found",
    words: ["did you mean `rawvideo`?"],
  }),
  mistaken("a muxer", "-f lavfi -i testsrc2=d=1 -f matrosca {{out_1}}", {
    code: "invalid_option",
    words: ["did you mean `matroska`?"],
  }),
  mistaken("a preset", "-f lavfi -i testsrc2=d=1 -preset fst {{out_1}}", {
    code: "invalid_option",
    words: ["did you mean `fast`?"],
  }),
  mistaken("an output without extension", "-f lavfi -i testsrc2=d=1 {{out_1}}", {
    output: "out",
    code: "invalid_option",
    words: ["has no extension", "out.mp4", "-f mp4"],
  }),
  mistaken("a colon in a text", "-f lavfi -i testsrc2=d=1 -vf drawtext=text=10:30 {{out_1}}", {
    code: "filter_error",
    words: [String.raw`10\:30`],
  }),
  mistaken("an odd size", "-f lavfi -i testsrc2=d=1 -vf scale=81:61 -pix_fmt yuv420p {{out_1}}", {
    code: "invalid_option",
    words: ["even", "-2"],
  }),
  mistaken("a map of an input that is not there", "-f lavfi -i testsrc2=d=1 -map 1:a {{out_1}}", {
    code: "stream_not_found",
    words: ["the only input has the number 0"],
  }),
  mistaken("a source without an end", "-f lavfi -i testsrc2 {{out_1}}", {
    code: "endless_input",
    words: ["never finish", "write -t"],
  }),
]

/** Missing inputs, outputs and other fields. */
const LACKS: Mistake[] = [
  {
    mistake: "no outputs",
    path: "/commands",
    status: 422,
    field: "output_files",
    code: "invalid_field",
    words: ["at least one output", '{"out_1": "out.mp4"}', "-f null -"],
    init: command({ output_files: undefined }),
  },
  {
    mistake: "an output of a command that keeps no file",
    path: "/commands",
    status: 422,
    field: "output_files.out_1",
    code: "unused_output",
    words: ["no command names this output", "leave it out", "keeps no file"],
    init: command({ ffmpeg_command: "ffmpeg -f lavfi -i sine=d=1 -af volumedetect -f null -" }),
  },
]

/** A command in another form than a single text. */
function misformed(mistake: string, fields: object, field: string, words: string[]): Mistake {
  const init = command({ ffmpeg_command: undefined, ...fields })
  return { mistake, path: "/commands", status: 422, field, code: "invalid_field", words, init }
}

const LINE = "ffmpeg -f lavfi -i testsrc2=d=1 {{out_1}}"
const FORMS: Mistake[] = [
  misformed("one string for a list", { ffmpeg_commands: LINE }, "ffmpeg_commands", [
    `["${LINE}"]`,
    "`ffmpeg_command`",
  ]),
  misformed("a list of words for a text", { ffmpeg_command: LINE.split(" ") }, "ffmpeg_command", [
    `\`${LINE}\``,
  ]),
  misformed("a list of commands for a text", { ffmpeg_command: [LINE, LINE] }, "ffmpeg_command", [
    "`ffmpeg_commands`",
  ]),
  misformed("words as commands", { ffmpeg_commands: LINE.split(" ") }, "ffmpeg_commands", [
    "each entry is a whole command",
    '["ffmpeg -i {{in_1}} {{out_1}}"]',
  ]),
  misformed(
    "a list of words in a list",
    { ffmpeg_commands: [LINE.split(" ")] },
    "ffmpeg_commands.0",
    [`\`${LINE}\``],
  ),
]

/** Mistakes of commands. */
export const COMMAND_MISTAKES = [...FORMS, ...INPUTS, ...WORDS, ...NAMES, ...LACKS]
