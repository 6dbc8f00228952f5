import type { RenditionContainer } from "../../../src/contract/tasks/render.ts"
import { AUDIO_PRESETS } from "./presets.ts"

/** ffmpeg's options that encode the sound of an output; a rate is in samples a second. */
export function audioArguments(
  container: RenditionContainer,
  sound: { channels: number; sampleRate: number | null },
): string[] {
  const { encoder, kbps } = AUDIO_PRESETS[container === "webm" ? "opus" : "aac"]
  // More than two channels: players of the web mix them by themselves or not at all.
  const channels = sound.channels === 1 ? 1 : 2
  const rate = container !== "webm" && sound.sampleRate === 44_100 ? 44_100 : 48_000
  return [
    "-c:a",
    encoder,
    "-b:a",
    `${channels === 1 ? kbps.mono : kbps.stereo}k`,
    "-ac",
    String(channels),
    "-ar",
    String(rate),
  ]
}
