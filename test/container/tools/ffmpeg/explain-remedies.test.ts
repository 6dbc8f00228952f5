import { expect, test } from "vitest"
import { explainFfmpegFailure } from "../../../../container/tools/ffmpeg/explain-failure.ts"

/** Failures whose sentences include a remedy. */
const REMEDIES: [code: string, sentence: string, lines: string[]][] = [
  [
    "stream_not_found",
    'The map "0:s" matches no stream of the inputs: map one that there is, or end the map with ? where it may be missing. The inputs have 0:0 (video, h264), 0:1 (audio, aac).',
    [
      "Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'in_1.mp4':",
      "  Stream #0:0[0x1](und): Video: h264 (High) (avc1 / 0x31637661), yuv420p, 160x120, 25 fps (default)",
      "  Stream #0:1[0x2](und): Audio: aac (LC) (mp4a / 0x6134706D), 44100 Hz, mono, fltp (default)",
      "Stream map '0:s' matches no streams.",
      "To ignore this, add a trailing '?' to the map.",
    ],
  ],
  [
    "filter_error",
    'A filter reads "t.txt", and there is no file of this name: give the file as an input and write its key there, as {{in_2}}.',
    [
      "[Parsed_drawtext_0 @ 0x5581] [FILE @ 0x7ffe] Cannot read file 't.txt': No such file or directory",
      "[Parsed_drawtext_0 @ 0x5581] The text file 't.txt' could not be read or is empty",
      "[AVFilterGraph @ 0x5581] Error initializing filters",
    ],
  ],
  [
    "invalid_option",
    "The format mp4 cannot go to standard output, since its beginning is written last: write to an output.",
    [
      "[mp4 @ 0x5581] muxer does not support non seekable output",
      "Could not write header for output file #0 (incorrect codec parameters ?): Invalid argument",
    ],
  ],
  [
    "invalid_option",
    "The encoder libx265 requires an even width and height, and the width is odd: write even numbers, or -2 for a side that is to follow the other, as scale=640:-2.",
    [
      "x265 [error]: Picture width must be an integer multiple of the specified chroma subsampling",
      "x265 [error]: Picture height must be an integer multiple of the specified chroma subsampling",
      "[libx265 @ 0x5581] Cannot open libx265 encoder.",
    ],
  ],
]

test.for(REMEDIES)("%s: %s", ([code, message, lines]) => {
  const position = { number: 1, total: 1 }
  const { failure } = explainFfmpegFailure({
    argv: [],
    stderr: lines.join("\n"),
    exitCode: 1,
    workspace: "/w/1",
    position,
  })
  expect(failure).toMatchObject({ code, message })
})
