import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { z } from "zod"
import { meterLoudness } from "../../local/loudness-meter.ts"
import { tools } from "../media.ts"

const TARGET = { lufs: -23, range: 20, truePeak: -1 }
const LOUDNORM = `loudnorm=I=${TARGET.lufs}:LRA=${TARGET.range}:TP=${TARGET.truePeak}`

const measured = z.object({
  input_i: z.string(),
  input_lra: z.string(),
  input_tp: z.string(),
  input_thresh: z.string(),
  target_offset: z.string(),
})

/** What a person has to normalize: the file and its codec of sound, by ffmpeg's words. */
export type Source = { path: string; codec: string }

/** Measures, applies and measures again by the filter loudnorm, as people do it by hand. */
export async function passByLoudnorm({ path, codec }: Source, folder: string): Promise<void> {
  const found = await measureByLoudnorm(path)
  const applied =
    `${LOUDNORM}:linear=true:measured_I=${found.input_i}:measured_LRA=${found.input_lra}` +
    `:measured_TP=${found.input_tp}:measured_thresh=${found.input_thresh}:offset=${found.target_offset}`
  // Without a rate the output has loudnorm's own, 192 kHz.
  const made = await apply(path, `-af ${applied} -ar 48000 ${codec}`, folder)
  await measureByLoudnorm(made)
}

/** The same by the meter ebur128 and one gain, which does less work. */
export async function passByGain({ path, codec }: Source, folder: string): Promise<void> {
  const found = await meterLoudness(path)
  if (!found) throw new Error("there is no sound")
  const made = await apply(path, `-af volume=${TARGET.lufs - found.lufs}dB ${codec}`, folder)
  await meterLoudness(made)
}

async function measureByLoudnorm(path: string) {
  const options = "-nostdin -hide_banner -nostats".split(" ")
  const filter = `${LOUDNORM}:print_format=json`
  const words = [...options, "-i", path, "-map", "0:a:0", "-af", filter, "-f", "null", "-"]
  const { stderr } = await promisify(execFile)(tools.ffmpeg, words)
  return measured.parse(JSON.parse(stderr.slice(stderr.lastIndexOf("{"))))
}

async function apply(path: string, words: string, folder: string): Promise<string> {
  const made = join(folder, `bare-${path.slice(path.lastIndexOf("/") + 1)}`)
  const kept = "-map 0 -c copy -map_metadata 0"
  const line = `-v error -nostdin -y -i ${path} ${kept} ${words} ${made}`
  await promisify(execFile)(tools.ffmpeg, line.split(" "))
  return made
}
