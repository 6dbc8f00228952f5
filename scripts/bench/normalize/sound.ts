import { join } from "node:path"
import { speak, STORY } from "../../../test/support/speech.ts"
import { makeMedia } from "../media.ts"

const CHORD = [220, 277.18, 329.63]
const VIDEO = "testsrc2=size=640x360:rate=10"

/**
 * Makes a WAV of this many seconds in a folder: speech over something like music, in stereo at
 * 48 kHz, quieter than it should be.
 */
export async function makeSound(folder: string, name: string, seconds: number): Promise<string> {
  await speak(folder, { name: "story.wav", text: STORY })
  const tones = CHORD.map((hertz, index) => `sin(2*PI*${hertz}*t)*(1+sin(${index + 1}*t))/2`)
  const music = `aevalsrc=0.05*(${tones.join("+")})|0.05*(${tones.toReversed().join("-")}):s=48000`
  const mix =
    "[0:a]aresample=48000,pan=stereo|c0=c0|c1=c0,volume=-9dB[speech];" +
    "[speech][1:a]amix=inputs=2:duration=longest:normalize=0[mix]"
  const inputs = `-stream_loop -1 -i ${join(folder, "story.wav")} -f lavfi -i ${music}`
  const words = `${inputs} -filter_complex ${mix} -map [mix] -t ${seconds}`
  return await makeMedia(folder, name, words)
}

/** Makes a file of another format of a sound; a video gets a picture. */
export async function makeFormat(
  folder: string,
  sound: string,
  { name, words, isVideo = false }: { name: string; words: string; isVideo?: boolean },
): Promise<string> {
  const picture = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -shortest"
  const line = isVideo
    ? `-i ${sound} -f lavfi -i ${VIDEO} ${picture} ${words}`
    : `-i ${sound} ${words}`
  return await makeMedia(folder, name, line)
}
