import { describe, expect, test } from "vitest"
import {
  classifyInputDamage,
  findInputDamageLine,
} from "../../../../container/tools/ffmpeg/input-damage.ts"
import { createFfmpegRunDetailsReader } from "../../../../container/tools/ffmpeg/run-facts.ts"

function notesOf(lines: string[], progress: string[] = []) {
  const notes = createFfmpegRunDetailsReader()
  for (const line of lines) notes.readStderr(line)
  for (const line of progress) notes.readProgress(line)
  return notes.end()
}

describe("notes of a run", () => {
  test.for<[string[], boolean]>([
    [["frame=0", "out_time_us=N/A", "progress=end"], false],
    [["frame=0", "out_time_us=0"], false],
    [["frame=1", "out_time_us=0"], true],
    [["out_time_us=23220"], true],
    [["frame=0", "frame=7"], true],
  ])("with the progress %j report written output: %s", ([progress, hasWritten]) => {
    expect(notesOf([], progress).hasWritten).toBe(hasWritten)
  })

  test("keep the first lines about damage", () => {
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
  ])("is reported by: %s", (line) => {
    expect(classifyInputDamage(line)).not.toBeNull()
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
    ["[png @ 0x55d0] chunk too big", ["png_pipe"], true],
    ["in_1.mp3: partial file", ["mp3"], true],
  ])("of %s in inputs of %j is certain: %s", ([line, formats, isCertain]) => {
    expect(findInputDamageLine([line], formats)).toBe(isCertain ? line : null)
  })

  test.for([
    "[h264 @ 0x55d0] mmco: unref short failure",
    "[mp3 @ 0x55d0] Estimating duration from bitrate, this may be inaccurate",
    "[mp3float @ 0x55d0] invalid new backstep -1",
    "[hevc @ 0x55d0] Could not find ref with POC 14",
    "[mpegts @ 0x55d0] start time for stream 0 is not set in estimate_timings_from_pts",
    "Guessed Channel Layout for Input Stream #0.0 : mono",
  ])("is not reported by: %s", (line) => {
    expect(classifyInputDamage(line)).toBeNull()
  })
})
