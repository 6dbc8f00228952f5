import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { mediaTools } from "./media-tools.ts"

const METER = "ebur128=peak=true:framelog=verbose"

/** What ffmpeg's own meter says of sound, by EBU R 128; minus infinity where it is silent. */
export type MeteredLoudness = { lufs: number; truePeakDbtp: number }

/**
 * Measures an audio stream of a file, the first by default, or its first seconds; null where there
 * is no such stream.
 */
export async function meterLoudness(
  path: string,
  {
    stream = 0,
    secondsMax,
    signal,
  }: { stream?: number; secondsMax?: number; signal?: AbortSignal } = {},
): Promise<MeteredLoudness | null> {
  const program = mediaTools().ffmpeg
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

function readSummary(stderr: string): MeteredLoudness {
  function read(pattern: RegExp): number {
    const text = pattern.exec(stderr)?.[1]
    if (text === undefined) throw new Error("the meter said nothing")
    return text === "-inf" ? Number.NEGATIVE_INFINITY : Number(text)
  }
  return {
    lufs: read(/^ +I: +(\S+) LUFS/m),
    truePeakDbtp: read(/^ +Peak: +(\S+) dBFS/m),
  }
}
