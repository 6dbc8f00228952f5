import { describe, expect, test } from "vitest"
import { damageKind, findDamageLine } from "../../../container/tools/damage.ts"
import { openRunNotes } from "../../../container/tools/run-notes.ts"

function notesOf(lines: string[], progress: string[] = []) {
  const notes = openRunNotes()
  for (const line of lines) notes.readStderr(line)
  for (const line of progress) notes.readProgress(line)
  return notes.end()
}

const DESCRIBED = [
  "Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'in_1.mp4':",
  "  Metadata:",
  "    title           : Output #0, mp4, to 'x':",
  "  Duration: 00:00:02.02, start: 0.000000, bitrate: 160 kb/s",
  "  Stream #0:0[0x1](und): Video: h264 (High) (avc1 / 0x31637661), yuv420p, 160x120",
  "Stream mapping:",
  "  Stream #0:0 -> #0:0 (h264 (native) -> h264 (libx264))",
  "Output #0, mp4, to 'a.mp4':",
  "  Stream #0:0(und): Video: h264 (avc1 / 0x31637661), yuv420p, 160x120, 10 fps (default)",
  "  Stream #0:1(und): Audio: aac (LC) (mp4a / 0x6134706D), 44100 Hz, mono",
  "  Stream #0:2: Video: mjpeg (mp4v / 0x7634706D), yuvj444p, 160x120 (attached pic)",
  "Output #1, framemd5, to 'b.md5':",
  "  Stream #1:0: Audio: pcm_s16le, 44100 Hz, mono, s16",
]

describe("notes of a run", () => {
  test("name inputs with their lengths, and outputs with their muxers and streams", () => {
    const { inputs, outputs } = notesOf(DESCRIBED)
    expect([...inputs]).toEqual([
      [
        "in_1.mp4",
        {
          format: "mov,mp4,m4a,3gp,3g2,mj2",
          seconds: 2.02,
          startSeconds: 0,
          isEstimate: false,
        },
      ],
    ])
    expect([...outputs]).toEqual([
      ["a.mp4", { index: 0, muxer: "mp4", video: 1, audio: 1, others: 1 }],
      ["b.md5", { index: 1, muxer: "framemd5", video: 0, audio: 1, others: 0 }],
    ])
  })

  test("sum up what was written: ffmpeg 5 for all outputs together, later ones for each", () => {
    const old = notesOf(["video:89kB audio:0kB subtitle:0kB other streams:0kB"])
    expect(old.written(1)).toEqual({ video: 89, audio: 0 })
    const one = "[out#1/mp4 @ 0x5581c2d05a40] video:0KiB audio:17KiB subtitle:0KiB"
    expect(notesOf([one]).written(1)).toEqual({ video: 0, audio: 17 })
    expect(notesOf([one]).written(0)).toBeNull()
  })

  test.for<[string[], boolean]>([
    [["frame=0", "out_time_us=N/A", "progress=end"], false],
    [["frame=0", "out_time_us=0"], false],
    [["frame=1", "out_time_us=0"], true],
    [["out_time_us=23220"], true],
    [["frame=0", "frame=7"], true],
  ])("of the progress %j say whether anything was written: %s", ([progress, hasWritten]) => {
    expect(notesOf([], progress).hasWritten).toBe(hasWritten)
  })

  test("tell an estimated length, a start, and times that begin anew", () => {
    const { inputs, isJoined } = notesOf([
      "[aac @ 0x55d0] Estimating duration from bitrate, this may be inaccurate",
      "Input #0, aac, from 'in_1.aac':",
      "  Duration: 00:21:46.45, bitrate: 3 kb/s",
      "Input #1, matroska,webm, from 'in_2.mkv':",
      "  Duration: 00:00:04.04, start: 2.023000, bitrate: 199 kb/s",
      "[mpegts @ 0x55d0] DTS 128090 < 304490 out of order",
    ])
    expect([...inputs.values()]).toMatchObject([
      { isEstimate: true, startSeconds: 0 },
      { isEstimate: false, startSeconds: 2.023, seconds: 4.04 },
    ])
    expect([isJoined, notesOf(DESCRIBED).isJoined]).toEqual([true, false])
  })

  test("keep the first lines that tell of damage", () => {
    const line = "in_1.ts: corrupt input packet in stream 0"
    expect(notesOf(["a line", ...Array.from({ length: 9 }, () => line)]).damage).toHaveLength(5)
  })
})

describe("damage", () => {
  test.for([
    "in_1.mp4: corrupt input packet in stream 0",
    "[in#0/mpegts @ 0x55d0] corrupt input packet in stream 0",
    "[mov,mp4,m4a,3gp,3g2,mj2 @ 0x55d0] stream 1, offset 0xf64c7: partial file",
    "Error while decoding stream #0:0: Invalid data found when processing input",
    "[vist#0:0/h264 @ 0x55d0] [dec:h264 @ 0x55e0] Error submitting packet to decoder: Invalid data found when processing input",
    "[dec:h264 @ 0x55e0] Decoding error: Invalid data found when processing input",
    "[in#0/matroska,webm @ 0x55d0] Error during demuxing: Input/output error",
    "[h264 @ 0x55d0] error while decoding MB 11 10, bytestream -5",
    "[matroska,webm @ 0x55d0] File ended prematurely",
    "in_1.mkv: Invalid data found when processing input",
  ])("is told by: %s", (line) => {
    expect(damageKind(line)).not.toBeNull()
  })

  test.for<[line: string, formats: string[], isCertain: boolean]>([
    ["in_1.wav: corrupt input packet in stream 0", ["wav"], false],
    ["in_1.ts: corrupt input packet in stream 0", ["mpegts"], true],
    ["Error while decoding stream #1:0: Invalid data found", ["mov,mp4,m4a", "mp3"], false],
    ["Error while decoding stream #0:0: Invalid data found", ["mov,mp4,m4a", "mp3"], true],
    ["[h264 @ 0x55d0] error while decoding MB 11 10", ["mov,mp4,m4a", "mp3"], false],
    ["Error while decoding stream #0:0: Invalid data found", ["concat,mp3,txt"], false],
    ["Error while decoding stream #0:1: Invalid data found", ["mpeg"], false],
    ["Error while decoding stream #0:0: Invalid data found", ["flac"], true],
    ["[mjpeg @ 0x55d0] overread 8", ["image2"], true],
    ["[mjpeg @ 0x55d0] overread 8", ["avi"], false],
    ["in_1.mp3: partial file", ["mp3"], true],
  ])("of %s in inputs of %j is certain: %s", ([line, formats, isCertain]) => {
    expect(findDamageLine([line], formats)).toBe(isCertain ? line : null)
  })

  test.for([
    "[h264 @ 0x55d0] mmco: unref short failure",
    "[mp3 @ 0x55d0] Estimating duration from bitrate, this may be inaccurate",
    "[mp3float @ 0x55d0] invalid new backstep -1",
    "[hevc @ 0x55d0] Could not find ref with POC 14",
    "[mpegts @ 0x55d0] start time for stream 0 is not set in estimate_timings_from_pts",
    "Guessed Channel Layout for Input Stream #0.0 : mono",
  ])("is not told by: %s", (line) => {
    expect(damageKind(line)).toBeNull()
  })
})
