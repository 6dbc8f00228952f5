import { execFile } from "node:child_process"
import { promisify } from "node:util"

const SECONDS_MAX = 60

/** Integrated loudness in LUFS of a file's first minute; null where it has no sound. */
export async function measureLoudness(path: string, signal: AbortSignal): Promise<number | null> {
  const program = process.env["FFMPEG_PATH"] ?? "ffmpeg"
  const words = ["-nostdin", "-hide_banner", "-nostats", "-t", String(SECONDS_MAX), "-i", path]
  const meter = ["-map", "0:a:0", "-af", "ebur128=framelog=verbose", "-f", "null", "-"]
  try {
    const { stderr } = await promisify(execFile)(program, [...words, ...meter], { signal })
    const text = /^\s+I:\s+(-?\d+\.\d+) LUFS/m.exec(stderr)?.[1]
    return text === undefined ? null : Number(text)
  } catch {
    signal.throwIfAborted()
    return null
  }
}
