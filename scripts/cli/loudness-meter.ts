import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { findMediaTools } from "./media-tools.ts"

const METER = "ebur128=peak=true:framelog=verbose"

/** Loudness as ffmpeg's meter (EBU R 128) measures it; minus infinity for silence. */
export type AudioStreamLoudness = { lufs: number; truePeakDbtp: number }

/**
 * Measures the loudness of an audio stream of a file, the first stream by default. `secondsMax`
 * limits the measured duration. Returns null if ffmpeg fails, for example because there is no such
 * stream.
 */
export async function measureLoudness(
  path: string,
  {
    stream = 0,
    secondsMax,
    signal,
  }: { stream?: number; secondsMax?: number; signal?: AbortSignal } = {},
): Promise<AudioStreamLoudness | null> {
  const program = findMediaTools().ffmpeg
  const limit = secondsMax === undefined ? [] : ["-t", String(secondsMax)]
  const words = ["-nostdin", "-hide_banner", "-nostats", ...limit, "-i", path]
  const meter = ["-map", `0:a:${stream}`, "-af", METER, "-f", "null", "-"]
  try {
    const { stderr } = await promisify(execFile)(program, [...words, ...meter], { signal })
    return readSummary(stderr)
  } catch {
    signal?.throwIfAborted()
    return null
  }
}

function readSummary(stderr: string): AudioStreamLoudness {
  function readNumber(pattern: RegExp): number {
    const text = pattern.exec(stderr)?.[1]
    if (text === undefined) throw new Error("the meter printed nothing")
    return text === "-inf" ? Number.NEGATIVE_INFINITY : Number(text)
  }
  return {
    lufs: readNumber(/^ +I: +(\S+) LUFS/m),
    truePeakDbtp: readNumber(/^ +Peak: +(\S+) dBFS/m),
  }
}
