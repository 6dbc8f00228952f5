import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { selectCases } from "../../../support/wide.ts"
import { COVER, packetSums, probe, SOUND, startNormalizeHarness } from "./normalize-harness.ts"
import type { NormalizeHarness } from "./normalize-harness.ts"
import { measureIntegrated } from "./reference-meter.ts"

const CHAPTERS = `;FFMETADATA1
title=A film
[CHAPTER]
TIMEBASE=1/1000
START=0
END=2000
title=One
[CHAPTER]
TIMEBASE=1/1000
START=2000
END=6000
title=Two
`
const SUBTITLES = "1\n00:00:00,500 --> 00:00:02,000\nHello\n"
const VIDEO = "-f lavfi -i testsrc2=d=6:s=128x72:r=10"
const H264 = "-c:v libx264 -preset ultrafast -bf 2"

let lab: NormalizeHarness

beforeAll(async () => {
  lab = await startNormalizeHarness()
  await writeFile(join(lab.folder, "chapters.txt"), CHAPTERS)
  await writeFile(join(lab.folder, "subtitles.srt"), SUBTITLES)
  await lab.make("cover.jpg", COVER)
})

afterAll(() => lab[Symbol.asyncDispose]())

describe("a normalized file keeps", () => {
  test("video, two languages, subtitles, chapters, attachments and a cover of Matroska", async () => {
    const words = [
      `${VIDEO} ${SOUND} -i subtitles.srt -i chapters.txt`,
      "-map 0:v -map 1:a -map 1:a -map 2:s -map_metadata 3 -map_chapters 3",
      `${H264} -c:a:0 flac -c:a:1 libopus -filter:a:1 volume=-9dB -c:s srt`,
      "-metadata:s:a:0 language=eng -metadata:s:a:1 language=deu -metadata:s:a:1 title=Comment",
      "-disposition:a:0 0 -disposition:a:1 default -disposition:s:0 forced",
      "-attach chapters.txt -metadata:s:t:0 mimetype=text/plain -metadata:s:t:0 filename=notes.txt",
      "-attach cover.jpg -metadata:s:t:1 mimetype=image/jpeg -metadata:s:t:1 filename=cover.jpg",
    ]
    const path = await lab.make("film.mkv", words.join(" "))
    const made = await lab.normalize(path)
    expect(made.result).toMatchObject({ target_reached: true, converted_from: null })
    expect(await packetSums(made.path, "v:0")).toBe(await packetSums(path, "v:0"))
    const { streams, chapters, format } = await probe(made.path)
    expect(streams.map((each) => each.codec_name)).toEqual(
      (await probe(path)).streams.map((each) => each.codec_name),
    )
    const [, first, second, subtitles, notes, cover] = streams
    expect(first).toMatchObject({ tags: { language: "eng" }, disposition: { default: 0 } })
    expect(second).toMatchObject({
      tags: { language: "deu", title: "Comment" },
      disposition: { default: 1 },
    })
    expect(subtitles).toMatchObject({ codec_name: "subrip", disposition: { forced: 1 } })
    expect(notes).toMatchObject({ tags: { filename: "notes.txt", mimetype: "text/plain" } })
    expect(cover).toMatchObject({
      disposition: { attached_pic: 1 },
      tags: { filename: "cover.jpg" },
    })
    expect(chapters.map(({ tags }) => tags?.["title"])).toEqual(["One", "Two"])
    expect(format.tags["title"]).toBe("A film")
    for (const stream of [0, 1]) {
      expect(await measureIntegrated(made.path, stream)).toBeCloseTo(-23, 0)
    }
  })

  test("video, captions, chapters, rotation and the index position of MP4", async () => {
    const words = [
      `${VIDEO} ${SOUND} -i subtitles.srt -i chapters.txt -map 0:v -map 1:a -map 2:s`,
      `-map_metadata 3 -map_chapters 3 ${H264} -c:a aac -c:s mov_text -metadata:s:v rotate=90`,
      "-movflags +faststart -metadata:s:a language=fra -timecode 01:00:00:00",
    ]
    const path = await lab.make("film.mp4", words.join(" "))
    const made = await lab.normalize(path)
    expect(made.result).toMatchObject({ target_reached: true, converted_from: null })
    expect(await packetSums(made.path, "v:0")).toBe(await packetSums(path, "v:0"))
    const [was, is] = [await probe(path), await probe(made.path)]
    expect(is.streams.map((each) => each.codec_name)).toEqual(
      was.streams.map((each) => each.codec_name),
    )
    expect(is.streams[0]?.["side_data_list"]).toEqual(was.streams[0]?.["side_data_list"])
    expect(is.streams[1]?.tags["language"]).toBe("fra")
    expect(is.chapters).toHaveLength(2)
    expect(is.format.tags["title"]).toBe("A film")
    const stored = Buffer.from(lab.harness.io.outputs.get("output")?.bytes ?? [])
    expect(stored.indexOf("moov")).toBeLessThan(stored.indexOf("mdat"))
  })

  test.for(
    selectCases(
      [
        ["song.mp3", ""],
        ["song.m4a", ""],
      ],
      [
        ["song.flac", ""],
        ["song.aiff", "-write_id3v2 1"],
      ],
    ),
  )("cover and tags of %s, except stale loudness tags", async ([name = "", words = ""]) => {
    const tags = "-metadata title=Song -metadata artist=Änne -metadata REPLAYGAIN_TRACK_GAIN=-3dB"
    const inputs = `${SOUND} -i cover.jpg -map 0 -map 1`
    const cover = `-c:v copy -disposition:v attached_pic ${words}`
    const path = await lab.make(name, `${inputs} ${cover} ${tags}`)
    const made = await lab.normalize(path)
    const { streams, format } = await probe(made.path)
    expect(streams[1]).toMatchObject({ codec_name: "mjpeg", disposition: { attached_pic: 1 } })
    expect(format.tags).toMatchObject({ title: "Song", artist: "Änne" })
    expect(Object.keys(format.tags).filter((key) => /replaygain/i.test(key))).toEqual([])
    expect(await packetSums(made.path, "v")).toBe(await packetSums(path, "v"))
  })

  test.for(selectCases(["song.opus"], ["song.ogg"]))("cover and tags of %s", async (name) => {
    const plain = await lab.make(`plain-${name}`, `${SOUND} -metadata title=Song`)
    const flac = await lab.make(
      "picture.flac",
      `${SOUND} -i cover.jpg -map 0 -map 1 -t 1 -c:v copy -disposition:v attached_pic`,
    )
    const path = await lab.addCover(plain, flac, name)
    const was = await probe(path)
    expect(was.streams[1]).toMatchObject({ disposition: { attached_pic: 1 } })
    const made = await lab.normalize(path)
    const { streams } = await probe(made.path)
    expect(streams[0]?.tags).toMatchObject({ title: "Song" })
    expect(streams[1]).toMatchObject({ codec_name: "mjpeg", disposition: { attached_pic: 1 } })
    expect(await packetSums(made.path, "v")).toBe(await packetSums(path, "v"))
  })
})
