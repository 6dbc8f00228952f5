import { stat } from "node:fs/promises"
import { join } from "node:path"
import { beforeEach, describe, expect, test } from "vitest"
import { ALL_VARIANTS, openSandboxLab } from "./lab.ts"

const PICTURE = "-f lavfi -i testsrc2=s=64x64:r=10:d=0.5"
const TONE = "-f lavfi -i sine=d=0.5"
const SUBTITLES = "1\n00:00:00,000 --> 00:00:01,000\nHello\n"

/** Typical sequences of commands, each with a file that it makes. */
const WORK: [string, string[], string][] = [
  ["x264 and aac", [`${PICTURE} ${TONE} -c:v libx264 -c:a aac out.mp4`], "out.mp4"],
  ["x265", [`${PICTURE} -c:v libx265 -preset ultrafast out.mp4`], "out.mp4"],
  ["VP9 and Opus", [`${PICTURE} ${TONE} -c:v libvpx-vp9 -c:a libopus out.webm`], "out.webm"],
  ["AV1", [`${PICTURE} -c:v libsvtav1 -preset 12 out.mkv`], "out.mkv"],
  ["MP3", [`${TONE} -c:a libmp3lame out.mp3`], "out.mp3"],
  ["drawtext in the default font", [`${PICTURE} -vf drawtext=text=Hello out.mp4`], "out.mp4"],
  ["subtitles", [`${PICTURE} -vf subtitles=in_1.srt out.mp4`], "out.mp4"],
  ["loudness", [`${TONE} -af loudnorm=print_format=json out.wav`], "out.wav"],
  [
    "two passes",
    [
      `${PICTURE} -c:v libx264 -b:v 100k -pass 1 -f null /dev/null`,
      `${PICTURE} -c:v libx264 -b:v 100k -pass 2 out.mp4`,
    ],
    "out.mp4",
  ],
  [
    "a list of concat",
    [`${TONE} one.wav`, `${TONE} two.wav`, "-f concat -i list.txt -c copy out.wav"],
    "out.wav",
  ],
  ["a playlist with segments", [`${PICTURE} -hls_time 0.2 -g 2 out.m3u8`], "out.m3u8"],
  ["a tee", [`${TONE} -map 0 -c:a pcm_s16le -f tee [f=wav]a.wav|[f=wav]b.wav`], "b.wav"],
  ["pictures", [`${PICTURE} %02d.png`, "-i %02d.png out.gif"], "out.gif"],
  [
    "steadying",
    [`${PICTURE} -vf vidstabdetect -f null -`, `${PICTURE} -vf vidstabtransform out.mp4`],
    "out.mp4",
  ],
  ["a graph", [`${PICTURE} -filter_complex [0:v]split[a][b];[a][b]hstack out.mp4`], "out.mp4"],
]

describe.concurrent.for(ALL_VARIANTS)("the tier $how", (variant) => {
  beforeEach(({ skip }) => skip(!variant.isSupported, "this machine does not support it"))

  test.for(WORK)("supports %s", async ([, commands, output]) => {
    await using lab = await openSandboxLab(variant)
    await lab.put("in_1.srt", SUBTITLES)
    await lab.put("list.txt", "file 'one.wav'\nfile 'two.wav'\n")
    for (const commandLine of commands) {
      const run = await lab.ffmpeg(commandLine)
      expect(run).toMatchObject({ exitCode: 0 })
    }
    const made = await stat(join(lab.workspace, output))
    expect(made.size).toBeGreaterThan(0)
    expect(made.mode & 0o777).toBe(0o600)
  })

  test("lets ffprobe read a file", async () => {
    await using lab = await openSandboxLab(variant)
    await lab.ffmpeg(`${TONE} in_1.wav`)
    const argv = ["-v", "error", "-show_format", "file:in_1.wav"]
    const run = await lab.run("ffprobe", argv, { access: "read" })
    expect(run.text).toContain("format_name=wav")
  })
})
