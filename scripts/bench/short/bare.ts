import { readFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { runBare } from "../media.ts"
import { REMUX_WORDS } from "./contender.ts"
import type { Contender } from "./contender.ts"
import { systemTools } from "./system-tools.ts"

const PROBE_WORDS = "-v error -print_format json -show_format -show_streams -i".split(" ")

/** The system's own tools on a film of the disk. */
export function openBare(path: string): Contender {
  const [folder, name] = [dirname(path), basename(path)]
  async function remux(): Promise<void> {
    const copied = "bare.mp4"
    const words = ["-v", "error", "-nostdin", "-y", "-i", name, ...REMUX_WORDS, copied]
    await runBare(systemTools.ffmpeg, words, folder)
    await readFile(join(folder, copied))
  }
  return { probe: async () => await probeBare(path), remux, remuxStored: remux }
}

/** Has the system's ffprobe read a file, and its answer parsed. */
export async function probeBare(path: string): Promise<void> {
  const words = [...PROBE_WORDS, `file:${basename(path)}`]
  JSON.parse(await runBare(systemTools.ffprobe, words, dirname(path)))
}
