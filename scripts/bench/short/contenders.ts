import { existsSync, readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { buffer } from "node:stream/consumers"
import { z } from "zod"
import { jsonBody } from "../../local/client/caller.ts"
import type { Body, Caller } from "../../local/client/caller.ts"
import { runBare, tools } from "../../local/client/media.ts"
import { uploadFile } from "../../local/client/requests.ts"
import { findRunner } from "../../local/processes/memory.ts"
import type { BenchService } from "../service.ts"

/** Short work of a film, by this service or by bare tools. */
export type Contender = {
  /** Learns what ffprobe says of the film, from its upload on where there is one. */
  probe: () => Promise<void>
  /** Has the film's streams copied into another mp4, from its upload on, and reads the new file. */
  remux: () => Promise<void>
  /** The same of a film that is there already. */
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

type Film = Pick<Body, "sizeBytes" | "chunks">

/** This service as a caller uses it that wants its answer soon: in as few requests as there can be. */
export type Lathe = Contender & {
  /** Uploads a film and waits for its ffprobe; its id. */
  upload: (film: Film) => Promise<string>
}

export async function openLathe({ caller }: BenchService, film: Film): Promise<Lathe> {
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
    const { text } = await caller.ask("POST", "/v1/commands", jsonBody(order), WAITS)
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
      // The probe of the upload is a task beside that of the command, which needs not wait for it.
      const { id } = await uploadFile(caller, FILM_NAME, film)
      await remux(id)
    },
    remuxStored: async () => await remux(storedId),
  }
}

/** Reads a file where its address sends the caller: to a signed link. */
async function download(caller: Caller, url: string): Promise<void> {
  const redirect = await caller.open(url)
  redirect.resume()
  const answer = await caller.open(redirect.headers.location ?? "")
  const bytes = await buffer(answer)
  if (answer.statusCode !== 200 || bytes.byteLength === 0) {
    throw new Error(`a link was answered ${answer.statusCode} with ${bytes.byteLength} bytes`)
  }
}

/** The tools that come with the system, whatever the service and the other benchmarks use. */
export const systemTools = { ffmpeg: ofSystem("ffmpeg"), ffprobe: ofSystem("ffprobe") }

function ofSystem(name: string): string {
  const path = `/usr/bin/${name}`
  return existsSync(path) ? path : name
}

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

/** Prints which ffmpeg a service uses; whether it is the system's, which is the reference. */
export async function sayTools({ pid }: BenchService): Promise<boolean> {
  const [used, system] = await Promise.all([banner(ffprobeOf(pid)), banner(systemTools.ffprobe)])
  const versions = `${versionOf(used)}; the bare tools are the system's, ${versionOf(system)}`
  console.error(`The service uses ffmpeg ${versions}.`)
  return used === system
}

/** The runner's environment names it; where there is no /proc, this process's own is taken. */
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
