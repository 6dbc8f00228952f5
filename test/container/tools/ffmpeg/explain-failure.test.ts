import { describe, expect, test } from "vitest"
import {
  cleanToolLines,
  explainFfmpegFailure,
} from "../../../../container/tools/ffmpeg/explain-failure.ts"
import { measureCpuMs } from "../../../support/processor-time.ts"

const position = { number: 1, total: 1 }

function explainLines(...lines: string[]) {
  return explainFfmpegFailure({
    argv: [],
    stderr: lines.join("\n"),
    exitCode: 1,
    workspace: "/w/1",
    position,
  })
}

/** Messages of ffmpeg 7. Tests with real runs cover the version of the machine. */
const NEWER: [string, string, string[]][] = [
  [
    "encoder_not_found",
    'There is no encoder "nosuch".',
    [
      "[vost#0:0 @ 0x5581] Unknown encoder 'nosuch'",
      "[vost#0:0 @ 0x5581] Error selecting an encoder",
      "Error opening output file out.mp4.",
      "Error opening output files: Encoder not found",
    ],
  ],
  [
    "decoder_not_found",
    'There is no decoder "nosuch".',
    [
      "[vist#0:0/h264 @ 0x5581] Unknown decoder 'nosuch'",
      "[in#0 @ 0x5581] Error opening input: Decoder not found",
      "Error opening input file in_1.mp4.",
      "Error opening input files: Decoder not found",
    ],
  ],
  [
    "filter_error",
    'The filter "scale" has no option "foo".',
    [
      "[Parsed_scale_0 @ 0x5581] Error applying option 'foo' to filter 'scale': Option not found",
      "Error opening output file out.mp4.",
      "Error opening output files: Option not found",
    ],
  ],
  [
    "filter_error",
    'There is no filter "scal".',
    [
      "[AVFilterGraph @ 0x5581] No such filter: 'scal'",
      "Error opening output file out.mp4.",
      "Error opening output files: Filter not found",
    ],
  ],
  [
    "stream_not_found",
    'The map "0:s" matches no stream of the inputs.',
    [
      "[out#0/mp4 @ 0x5581] Stream map '0:s' matches no streams.",
      "To ignore this, add a trailing '?' to the map.",
      "Failed to set value '0:s' for option 'map': Invalid argument",
      "Error parsing options for output file out.mp4.",
      "Error opening output files: Invalid argument",
    ],
  ],
  [
    "invalid_input",
    'There is no file or folder for "nothing.mp4".',
    [
      "[in#0 @ 0x5581] Error opening input: No such file or directory",
      "Error opening input file nothing.mp4.",
      "Error opening input files: No such file or directory",
    ],
  ],
  [
    "invalid_input",
    '"in_2.mp4" is damaged or no readable media.',
    [
      "[mov,mp4,m4a,3gp,3g2,mj2 @ 0x5581] moov atom not found",
      "[in#0 @ 0x5581] Error opening input: Invalid data found when processing input",
      "Error opening input file in_2.mp4.",
      "Error opening input files: Invalid data found when processing input",
    ],
  ],
  [
    "invalid_option",
    'The name "out.zzz" does not say which output format is wanted.',
    [
      "[AVFormatContext @ 0x5581] Unable to choose an output format for 'out.zzz'; use a standard extension for the filename or specify the format manually.",
      "[out#0 @ 0x5581] Error initializing the muxer for out.zzz: Invalid argument",
    ],
  ],
  [
    "no_output",
    "An output would have no stream.",
    ["[out#0/mp4 @ 0x5581] Output file does not contain any stream"],
  ],
  [
    "invalid_option",
    "The encoder libx264 requires an even width and height, and got 63x35: write even numbers, or -2 for a side that is to follow the other, as scale=640:-2.",
    [
      "[libx264 @ 0x5581] width not divisible by 2 (63x35)",
      "[vost#0:0/libx264 @ 0x5582] Error while opening encoder - maybe incorrect parameters such as bit_rate, rate, width or height.",
      "[vf#0:0 @ 0x5583] Error sending frames to consumers: Generic error in an external library",
      "Conversion failed!",
    ],
  ],
  [
    "stream_not_found",
    'The filter "overlay" has an input that no stream goes to.',
    [
      "[fc#0 @ 0x5581] Cannot find an unused video input stream to feed the unlabeled input pad overlay.",
    ],
  ],
  [
    "invalid_option",
    'The option "-ss" does not take "abc".',
    ["Invalid duration for option ss: abc", "Error opening output files: Invalid argument"],
  ],
]

/** Recorded from ffmpeg 7.1.5 of Debian, without its first and last lines. */
const RECORDED: [string, string, string[]][] = [
  [
    "filter_error",
    'There is no filter "scal", or it does not take "10:10".',
    [
      "[AVFilterGraph @ 0x55c722fdce00] No option name near '10:10'",
      "[AVFilterGraph @ 0x55c722fdce00] Error parsing a filter description around: ",
      "[AVFilterGraph @ 0x55c722fdce00] Error parsing filterchain 'scal=10:10' around: ",
      "Error opening output file out.mp4.",
      "Error opening output files: Invalid argument",
    ],
  ],
  [
    "stream_not_found",
    'The map "0:s" matches no stream of the inputs.',
    [
      "Stream map '' matches no streams.",
      "To ignore this, add a trailing '?' to the map.",
      "Failed to set value '0:s' for option 'map': Invalid argument",
      "Error parsing options for output file out.mp4.",
      "Error opening output files: Invalid argument",
    ],
  ],
  [
    "invalid_option",
    '"abc" is not a frame rate.',
    [
      "[vost#0:0/libx264 @ 0x555786dc6380] Invalid framerate value: abc",
      "Error opening output file out.mp4.",
      "Error opening output files: Invalid argument",
    ],
  ],
  [
    "invalid_option",
    'There is no pixel format "nosuch".',
    [
      "[vost#0:0/libx264 @ 0x564af04b7380] Unknown pixel format requested: nosuch.",
      "Error opening output file out.mp4.",
      "Error opening output files: Invalid argument",
    ],
  ],
  [
    "filter_error",
    'The filter "subtitles" cannot open "words.srt": give a file with captions as an input',
    [
      "[Parsed_subtitles_0 @ 0x5629ad62ee00] Unable to open words.srt",
      "[AVFilterGraph @ 0x5629ad62e340] Error initializing filter 'subtitles' with args 'words.srt'",
      "Error reinitializing filters!",
    ],
  ],
  [
    "filter_error",
    'The filter "lut3d" cannot open "none.cube".',
    [
      "[Parsed_lut3d_0 @ 0x55909e086bc0] none.cube: No such file or directory",
      "[AVFilterGraph @ 0x55909e036e00] Error initializing filters",
      "Error opening output file out.mp4.",
      "Error opening output files: No such file or directory",
    ],
  ],
  [
    "filter_error",
    'There is no bitstream filter "nosuch", or its options are not valid.',
    [
      "[vost#0:0/libx264 @ 0x557b8f66d380] Error parsing bitstream filter sequence 'nosuch': Bitstream filter not found",
      "Error opening output file out.mp4.",
      "Error opening output files: Bitstream filter not found",
    ],
  ],
  [
    "invalid_option",
    "The encoder aac does not support the sample rate 7.",
    [
      "[aac @ 0x55dfaf810a00] Specified sample rate 7 is not supported by the aac encoder",
      "[aac @ 0x55dfaf810a00] Supported sample rates:",
      "[aac @ 0x55dfaf810a00]   96000",
      "[aac @ 0x55dfaf810a00]   7350",
      "[aost#0:1/aac @ 0x55dfaf7bf0c0] Error while opening encoder - maybe incorrect parameters such as bit_rate, rate, width or height.",
      "Conversion failed!",
    ],
  ],
]

test.for([...NEWER, ...RECORDED])(
  "explains messages of newer versions: %s, %s",
  ([code, message, lines]) => {
    const { blame, failure } = explainLines(...lines)
    expect([blame, failure.code]).toEqual(["caller", code])
    // The remedy may follow; explain-remedies.test.ts tests it.
    expect(failure.message).toContain(message.replace(/\.$/, ""))
  },
)

describe("failures of the machine", () => {
  test("a full disk is not the caller's fault", () => {
    const lines = ["av_interleaved_write_frame(): No space left on device", "Conversion failed!"]
    expect(explainLines(...lines)).toMatchObject({ blame: "ours", failure: { code: "disk_full" } })
  })

  test("a failed allocation is explained", () => {
    const { failure } = explainLines("Error while filtering: Cannot allocate memory")
    expect(failure.code).toBe("out_of_memory")
  })
})

describe("output that no rule matches", () => {
  test("is explained by its last error line", () => {
    const { failure } = explainLines("Something cannot be done.", "Conversion failed!")
    expect(failure).toMatchObject({
      code: "command_failed",
      message: "ffmpeg failed: Something cannot be done.",
    })
  })

  test("is explained by the exit code if it is empty", () => {
    expect(explainLines("").failure.message).toBe("ffmpeg failed without a message (exit code 1).")
  })
})

test("lines have no noise, control characters, pointers or paths of the machine", () => {
  const stderr = [
    "ffmpeg version 7.1 Copyright (c) 2000-2024 the FFmpeg developers",
    "  built with gcc",
    "Input #0, mov, from '/w/1/in_1.mp4':",
    "  Duration: 00:00:02.00, start: 0.000000",
    "frame=    1 fps=0.0 q=0.0 size=       0kB\rframe=    2 fps=0.0 q=0.0 size=       0kB",
    "[libx264 @ 0x55fd] frame I:1     Avg QP:12.00",
    "/w/1/in_2.mp4: No such \u001b[31mfile or directory",
    "/w/1: Is a directory",
  ].join("\n")
  expect(cleanToolLines(stderr, "/w/1")).toEqual([
    "in_2.mp4: No such [31mfile or directory",
    ".: Is a directory",
  ])
})

describe("the existence of a path outside the workspace", () => {
  const reasons = ["Permission denied", "No such file or directory", "Not a directory"]

  test.for<[string, (reason: string) => string[]]>([
    [
      "a list of ffmpeg 5",
      (reason) => ["[concat @ 0x5581] Impossible to open '/root/x'", `in_1.txt: ${reason}`],
    ],
    [
      "a list of ffmpeg 7",
      (reason) => [
        "[concat @ 0x5581] Impossible to open 'file:x'",
        `[in#0 @ 0x5582] Error opening input: ${reason}`,
        "Error opening input file in_1.txt.",
        `Error opening input files: ${reason}`,
      ],
    ],
    [
      "a list with only its last lines",
      (reason) => [`Error opening input files: ${reason}`, "Conversion failed!"],
    ],
    [
      "a filter",
      (reason) => [
        `[Parsed_lut3d_0 @ 0x5581] /root/x: ${reason}`,
        `Error opening output files: ${reason}`,
      ],
    ],
    ["an output", (reason) => [`../x/y.mp4: ${reason}`]],
  ])("is not shown by %s", ([, linesOf]) => {
    const explained = reasons.map((reason) => explainLines(...linesOf(reason)))
    expect(explained[1]).toEqual(explained[0])
    expect(explained[2]).toEqual(explained[0])
    expect(JSON.stringify(explained[0])).toContain("cannot be opened")
    expect(JSON.stringify(explained[0])).not.toMatch(/denied|No such/)
  })

  test("is hidden, unlike the reason for a plain name", () => {
    const lines = [
      "[in#0/mov @ 0x5581] Format mov/mp4 was read",
      "in_2.mp4: No such file or directory",
    ]
    expect(explainLines(...lines).failure).toMatchObject({
      message: 'There is no file or folder for "in_2.mp4".',
      lines: ["in_2.mp4: No such file or directory"],
    })
  })
})

test("explains long and odd stderr quickly", async () => {
  const stderr = "[x @ 0x1] Error invalid not a match '\n".repeat(1600) + "'".repeat(5000)
  const about = { argv: [], stderr, exitCode: 1, workspace: "/w/1", position }
  expect(await measureCpuMs(() => explainFfmpegFailure(about))).toBeLessThan(500)
})
