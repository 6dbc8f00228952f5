import { afterAll, beforeAll, expect, test } from "vitest"
import { selectCases } from "../../../support/wide.ts"
import { measurePeak, probe, SOUND, startNormalizeHarness } from "./normalize-harness.ts"
import type { NormalizeHarness } from "./normalize-harness.ts"
import { measureIntegrated } from "./reference-meter.ts"

type Case = {
  name: string
  words: string
  /** Expected audio stream: codec, sample rate, channels and optionally the sample format. */
  sound: [codec: string, rate: number, channels: number, format?: string]
  isExact: boolean
  /** Expected extension, if it differs from that of the input. */
  extension?: string
}

const SURROUND = "-af pan=5.1|FL=FL|FR=FR|FC=0.5*FL|LFE=0.1*FL|BL=0.3*FL|BR=0.3*FR"

const FEW: Case[] = [
  exact("16.wav", "", ["pcm_s16le", 48_000, 2]),
  exact("telephone.wav", "-ar 8000 -ac 1 -c:a pcm_mulaw", ["pcm_mulaw", 8000, 1]),
  exact("high.flac", "-ar 96000 -sample_fmt s32", ["flac", 96_000, 2, "s32"]),
  exact("surround.flac", SURROUND, ["flac", 48_000, 6, "s16"]),
  lossy("mp3.mp3", "-b:a 128k", ["mp3", 48_000, 2]),
  lossy("adts.aac", "", ["aac", 48_000, 2]),
  lossy("opus.opus", "-b:a 64k", ["opus", 48_000, 2]),
  {
    ...lossy("theatre.dts", `${SURROUND} -c:a dca -strict -2`, ["eac3", 48_000, 6]),
    extension: "eac3",
  },
]
const OTHERS: Case[] = [
  exact("lossless.m4a", "-c:a alac", ["alac", 48_000, 2, "s16p"]),
  exact("8.wav", "-c:a pcm_u8", ["pcm_u8", 48_000, 2]),
  exact("mono.wav", "-ar 8000 -ac 1", ["pcm_s16le", 8000, 1]),
  exact("24.wav", "-ar 96000 -t 3 -c:a pcm_s24le", ["pcm_s24le", 96_000, 2]),
  exact("32.wav", "-ar 192000 -t 1 -c:a pcm_s32le", ["pcm_s32le", 192_000, 2]),
  exact("float.wav", "-c:a pcm_f32le", ["pcm_f32le", 48_000, 2]),
  exact("surround.wav", SURROUND, ["pcm_s16le", 48_000, 6]),
  exact("adpcm.wav", "-c:a adpcm_ima_wav", ["pcm_s16le", 48_000, 2]),
  exact("16.flac", "", ["flac", 48_000, 2, "s16"]),
  exact("sony.w64", "", ["pcm_s16le", 48_000, 2]),
  exact("apple.aiff", "", ["pcm_s16be", 48_000, 2]),
  exact("apple.caf", "", ["pcm_s16be", 48_000, 2]),
  exact("sun.au", "", ["pcm_s16be", 48_000, 2]),
  exact("pack.wv", "", ["wavpack", 48_000, 2, "s16p"]),
  exact("true.tta", "", ["tta", 48_000, 2, "s16"]),
  exact("deep.m4a", "-ar 96000 -c:a alac -sample_fmt s32p", ["alac", 96_000, 2, "s32p"]),
  exact("quick.mov", "-c:a pcm_s16be", ["pcm_s16be", 48_000, 2]),
  lossy("sound.m4a", "-b:a 96k", ["aac", 48_000, 2]),
  lossy("low.ogg", "-c:a libvorbis -ar 22050 -ac 1", ["vorbis", 22_050, 1]),
  lossy("sound.oga", "-c:a libvorbis", ["vorbis", 48_000, 2]),
  lossy("sound.webm", "-c:a libopus", ["opus", 48_000, 2]),
  lossy("sound.mka", "-c:a libvorbis", ["vorbis", 48_000, 2]),
  lossy("stream.ts", "-c:a aac", ["aac", 48_000, 2]),
  lossy("old.avi", "-c:a libmp3lame", ["mp3", 48_000, 2]),
  lossy("flash.flv", "-c:a aac", ["aac", 48_000, 2]),
  lossy("disc.mpg", "-c:a mp2", ["mp2", 48_000, 2]),
  lossy("sound.mp2", "", ["mp2", 48_000, 2]),
  lossy("sound.ac3", "", ["ac3", 48_000, 2]),
  lossy("sound.wma", "", ["wmav2", 48_000, 2]),
  lossy("phone.3gp", "-c:a aac -ar 8000 -ac 1", ["aac", 8000, 1]),
]

let lab: NormalizeHarness

beforeAll(async () => {
  lab = await startNormalizeHarness()
})

afterAll(() => lab[Symbol.asyncDispose]())

test.for(selectCases(FEW, OTHERS))(
  "$name keeps its format and reaches the target",
  async (each) => {
    const { name, words, sound, isExact } = each
    const [codec, rate, channels, format] = sound
    const made = await lab.normalize(await lab.make(name, `${SOUND} ${words}`))
    const extension = each.extension ?? name.slice(name.lastIndexOf(".") + 1)
    expect(made.result.outputs[0]?.name).toBe(`output.${extension}`)
    expect(made.result).toMatchObject({ normalization_type: "linear", target_reached: true })
    const stream = (await probe(made.path)).streams.find((one) => one.codec_type === "audio")
    const depth = format === undefined ? {} : { sample_fmt: format }
    expect(stream).toMatchObject({
      codec_name: codec,
      sample_rate: String(rate),
      channels,
      ...depth,
    })
    const integrated = await measureIntegrated(made.path, 0, channels)
    expect(Math.abs(integrated + 23)).toBeLessThanOrEqual(isExact ? 0.3 : 0.5)
    expect(await measurePeak(made.path)).toBeLessThanOrEqual(isExact ? -1 : -0.5)
    const { after } = made.result.measurements
    expect(Math.abs((after.integrated_lufs ?? 0) - integrated)).toBeLessThanOrEqual(0.2)
  },
)

function exact(name: string, words: string, sound: Case["sound"]): Case {
  return { name, words, sound, isExact: true }
}

function lossy(name: string, words: string, sound: Case["sound"]): Case {
  return { name, words, sound, isExact: false }
}
