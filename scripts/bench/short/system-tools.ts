import { existsSync, readFileSync } from "node:fs"
import { findRunner } from "../memory.ts"
import { runBare, tools } from "../media.ts"
import type { BenchService } from "../service.ts"

/** The tools that come with the system, whatever the service and the other benchmarks use. */
export const systemTools = { ffmpeg: ofSystem("ffmpeg"), ffprobe: ofSystem("ffprobe") }

/** Says which ffmpeg a service uses; whether it is the system's, which is the reference. */
export async function sayTools({ pid }: BenchService): Promise<boolean> {
  const [used, system] = await Promise.all([banner(ffprobeOf(pid)), banner(systemTools.ffprobe)])
  const versions = `${versionOf(used)}; the bare tools are the system's, ${versionOf(system)}`
  console.error(`The service uses ffmpeg ${versions}.`)
  return used === system
}

function ofSystem(name: string): string {
  const path = `/usr/bin/${name}`
  return existsSync(path) ? path : name
}

/** The runner was told it; where there is no /proc, it is what this process would tell it. */
function ffprobeOf(servicePid: number): string {
  const runner = findRunner(servicePid)
  if (runner === null) return tools.ffprobe
  const variables = readFileSync(`/proc/${runner}/environ`, "utf8").split("\0")
  const named = variables.find((each) => each.startsWith("FFPROBE_PATH="))
  return named?.slice("FFPROBE_PATH=".length) ?? "ffprobe"
}

async function banner(ffprobe: string): Promise<string> {
  return await runBare(ffprobe, ["-version"], ".")
}

function versionOf(banner: string): string {
  return /^\S+ version (\S+)/.exec(banner)?.[1] ?? "of no version"
}
