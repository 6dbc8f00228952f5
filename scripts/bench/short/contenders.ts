import { existsSync, readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { buffer } from "node:stream/consumers"
import { z } from "zod"
import { makeJsonBody } from "../../cli/client/caller.ts"
import type { SizedRequestBody, ApiCaller } from "../../cli/client/caller.ts"
import { runUnsandboxed, serviceToolPaths } from "../../cli/client/media.ts"
import { uploadFile } from "../../cli/client/requests.ts"
import { findRunnerPid } from "../../cli/processes/memory.ts"
import type { BenchService } from "../service.ts"

/** Program whose work on a video is measured: this service, or ffmpeg and ffprobe alone. */
export type BenchContender = {
  /** Uploads the video if the contender needs an upload, and reads ffprobe's result. */
  probe: () => Promise<void>
  /**
   * Uploads the video if the contender needs an upload, copies its streams into a new MP4 and reads
   * the MP4.
   */
  remux: () => Promise<void>
  /** Copies the streams of a video that was uploaded before into a new MP4, and reads the MP4. */
  remuxStored: () => Promise<void>
}

const REMUX_WORDS = ["-c", "copy"]
const PROBE_WORDS = "-v error -print_format json -show_format -show_streams -i".split(" ")
const FILM_NAME = "film.mp4"
const WAITS = { prefer: "wait=60" }

const command = z.object({
  status: z.literal("success"),
  output_files: z.object({ out_1: z.object({ download_url: z.url() }) }),
})

type Film = Pick<SizedRequestBody, "sizeBytes" | "chunks">

/** Contender of the benchmark that uses this service with as few requests as possible. */
export type LatheContender = BenchContender & {
  /** Uploads a video and waits for ffprobe's result. Returns the file's id. */
  upload: (film: Film) => Promise<string>
}

export async function startLatheContender(
  { caller }: BenchService,
  film: Film,
): Promise<LatheContender> {
  async function upload(file: Film): Promise<string> {
    const { id, ffprobe } = await uploadFile(caller, FILM_NAME, file, WAITS)
    if (!ffprobe) throw new Error("a file that was probed has no ffprobe")
    return id
  }
  async function remux(fileId: string): Promise<void> {
    const order = {
      ffmpeg_command: `ffmpeg -i {{in_1}} ${REMUX_WORDS.join(" ")} {{out_1}}`,
      input_files: { in_1: `svc_id://${fileId}` },
      output_files: { out_1: "remuxed.mp4" },
    }
    const { text } = await caller.ask("POST", "/v1/commands", makeJsonBody(order), WAITS)
    const { download_url } = command.parse(JSON.parse(text)).output_files.out_1
    await download(caller, download_url)
  }
  const storedId = await upload(film)
  return {
    upload,
    async probe() {
      await upload(film)
    },
    async remux() {
      // Does not wait for the probe of the upload, because the command does not need ffprobe's
      // result.
      const { id } = await uploadFile(caller, FILM_NAME, film)
      await remux(id)
    },
    remuxStored: async () => await remux(storedId),
  }
}

/** Requests a file, follows the redirect to the signed link of the file, and reads the content. */
async function download(caller: ApiCaller, url: string): Promise<void> {
  const redirect = await caller.open(url)
  redirect.resume()
  const answer = await caller.open(redirect.headers.location ?? "")
  const bytes = await buffer(answer)
  if (answer.statusCode !== 200 || bytes.byteLength === 0) {
    throw new Error(`a link was answered ${answer.statusCode} with ${bytes.byteLength} bytes`)
  }
}

/** Paths of the operating system's ffmpeg and ffprobe. The service may use another build. */
export const systemToolPaths = { ffmpeg: ofSystem("ffmpeg"), ffprobe: ofSystem("ffprobe") }

function ofSystem(name: string): string {
  const path = `/usr/bin/${name}`
  return existsSync(path) ? path : name
}

/** Creates the contender that runs the system's ffmpeg and ffprobe on a local video. */
export function createSystemToolsContender(path: string): BenchContender {
  const [folder, name] = [dirname(path), basename(path)]
  async function remux(): Promise<void> {
    const copied = "bare.mp4"
    const words = ["-v", "error", "-nostdin", "-y", "-i", name, ...REMUX_WORDS, copied]
    await runUnsandboxed(systemToolPaths.ffmpeg, words, folder)
    await readFile(join(folder, copied))
  }
  return { probe: async () => await runSystemFfprobe(path), remux, remuxStored: remux }
}

/** Runs the system's ffprobe on a file and parses its output. */
export async function runSystemFfprobe(path: string): Promise<void> {
  const words = [...PROBE_WORDS, `file:${basename(path)}`]
  JSON.parse(await runUnsandboxed(systemToolPaths.ffprobe, words, dirname(path)))
}

/**
 * Prints the ffmpeg version of a service. Returns true if the service uses the system's ffmpeg,
 * which is the reference.
 */
export async function printAndCompareFfmpegVersions({ pid }: BenchService): Promise<boolean> {
  const [used, system] = await Promise.all([
    banner(ffprobeOf(pid)),
    banner(systemToolPaths.ffprobe),
  ])
  const versions = `${versionOf(used)}; the bare tools are the system's, ${versionOf(system)}`
  console.error(`The service uses ffmpeg ${versions}.`)
  return used === system
}

/**
 * Returns the path of a service's ffprobe from the environment of its runner. Without /proc,
 * returns the path of the ffprobe that this benchmark process would use.
 */
function ffprobeOf(servicePid: number): string {
  const runner = findRunnerPid(servicePid)
  if (runner === null) return serviceToolPaths.ffprobe
  const variables = readFileSync(`/proc/${runner}/environ`, "utf8").split("\0")
  const named = variables.find((each) => each.startsWith("FFPROBE_PATH="))
  return named?.slice("FFPROBE_PATH=".length) ?? "ffprobe"
}

async function banner(ffprobe: string): Promise<string> {
  return await runUnsandboxed(ffprobe, ["-version"], ".")
}

function versionOf(banner: string): string {
  return /^\S+ version (\S+)/.exec(banner)?.[1] ?? "of no version"
}
