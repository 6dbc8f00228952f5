import { describe, expect, test } from "vitest"
import { replaceFileKeysByNames } from "../../../src/ffmpeg/file-keys.ts"
import { splitWords } from "../../../src/kinds/command/lines.ts"
import { replaceFileLiterals } from "../../../src/kinds/ffmpeg/name-literals.ts"

const FILM = "https://h.example/film.mp4"
const SIGNED = "https://h.example/film.mp4?a=1&b=x%20y:z"
const SPACED = "https://h.example/my film.mp4"
const TEXTS = "https://h.example/texts.srt"
const STORED = "svc_id://00000000-0000-4000-8000-000000000000"

const URIS = [FILM, SIGNED, SPACED, TEXTS, STORED, FILM]
const LITERALS = URIS.map((text, place) => ({ text, key: `in_${place + 1}` }))
const NAMES = new Map(LITERALS.map(({ key }) => [key, `<${key}>`]))

/** Returns the words of a line, with `<in_1>` and so on at the positions of files. */
function fill(line: string): string {
  const split = splitWords(line)
  if ("error" in split) throw new Error(split.error)
  return replaceFileKeysByNames(replaceFileLiterals(split.words, LITERALS), NAMES).join(" ")
}

describe("a URI names its file", () => {
  test.for<[string, string]>([
    [`-i ${FILM} -i ${SIGNED}`, "-i <in_1> -i <in_2>"],
    [`-i '${SIGNED}' -i "${SPACED}"`, "-i <in_2> -i <in_3>"],
    [`-i ${SPACED.replace(" ", "\\ ")}`, "-i <in_3>"],
    [`-i ${STORED} -i ${STORED}`, "-i <in_5> -i <in_5>"],
    [`-i concat:${FILM}|${STORED}|in_1.ts`, "-i concat:<in_1>|<in_5>|in_1.ts"],
    [`-vf subtitles=${TEXTS}`, "-vf subtitles=<in_4>"],
    [`-vf subtitles='${TEXTS}'`, "-vf subtitles=<in_4>"],
    [`-vf "subtitles='${TEXTS}':force_style=x"`, "-vf subtitles='<in_4>':force_style=x"],
    [`-vf subtitles=filename=${TEXTS},hflip`, "-vf subtitles=filename=<in_4>,hflip"],
    [String.raw`-vf "subtitles=https\\://h.example/texts.srt"`, "-vf subtitles=<in_4>"],
    [String.raw`-vf "subtitles=https\\\\://h.example/texts.srt:x=1"`, "-vf subtitles=<in_4>:x=1"],
    [
      `-filter_complex "movie=${SIGNED}[a];movie='${SPACED}'[b];[0][a]overlay"`,
      "-filter_complex movie=<in_2>[a];movie='<in_3>'[b];[0][a]overlay",
    ],
    [`-f lavfi -i movie=${FILM}`, "-f lavfi -i movie=<in_1>"],
    [`-vf "drawtext=text='${FILM}':x=1"`, `-vf drawtext=text='${FILM}':x=1`],
    [`-vf drawtext=text=${FILM},subtitles=${TEXTS}`, `-vf drawtext=text=${FILM},subtitles=<in_4>`],
    [
      String.raw`-vf "drawtext=text='a\:b',movie=https\://h.example/film.mp4[w]"`,
      String.raw`-vf drawtext=text='a\:b',movie=<in_1>[w]`,
    ],
  ])("%s", ([line, filled]) => {
    expect(fill(line)).toBe(filled)
  })
})

describe("a key does not replace", () => {
  test.for([
    `-i ${FILM}x`,
    `-i x${FILM}`,
    `-i ${FILM}/part`,
    `-metadata comment=${FILM}`,
    `-metadata ${FILM}`,
    `-vf drawtext=text=${FILM}`,
    `-vf drawtext=text=${SIGNED},hflip`,
    `-vf subtitles=${TEXTS}x`,
    `-vf subtitles=x${TEXTS}`,
    `-vf [${TEXTS}]hflip`,
    "-vf scale=2:2",
    "-f lavfi -i testsrc=d=1",
  ])("%s", (line) => {
    expect(fill(line)).toBe(line)
  })
})
