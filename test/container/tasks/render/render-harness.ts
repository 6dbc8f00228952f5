import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { promisify } from "node:util"
import { z } from "zod"
import type { RunnerSettings } from "../../../../container/settings.ts"
import type { Report } from "../../../../src/contract/report.ts"
import { renderTaskDefinition } from "../../../../src/contract/tasks/render.ts"
import type { RenderResult, Rendition, RenderWork } from "../../../../src/contract/tasks/render.ts"
import { startHarness, waitFor } from "../../harness.ts"
import type { Harness } from "../../harness.ts"

const run = promisify(execFile)

/** Rendition of a work without its key, which follows from its position. */
export type RenditionRequest = Omit<Rendition, "key">

/** Words of ffmpeg for a fast encode, and for one second of moving picture. */
export const QUICK = "-c:v libx264 -preset ultrafast"
export const FILM = "-f lavfi -i testsrc2=s=192x108:r=25:d=1"

/** Rendition that encodes fast. */
export const SMALL: RenditionRequest = { codec: "h264", resolution: "480p", container: "mp4" }

/** Result of a successful task, and its stored files in the order of the work. */
export type Rendered = { result: RenderResult; paths: string[] }

/** Runner, and a folder of source media. */
export type RenderHarness = AsyncDisposable & {
  harness: Harness
  folder: string
  /** Creates a file of the folder by ffmpeg; `words` precede its name. */
  make(name: string, words: string): Promise<string>
  /** Renders a file; returns the last report. */
  report(path: string, asked?: RenditionRequest[], work?: Partial<RenderWork>): Promise<Report>
  /** Renders a file; throws unless it succeeds. */
  render(path: string, asked?: RenditionRequest[]): Promise<Rendered>
}

/** Long timeout: encoders are slow beside other tests. */
const WAIT_SECONDS_MAX = 60

/** Starts a runner for renditions. */
export async function startRenderHarness(
  settings: Partial<RunnerSettings> = {},
): Promise<RenderHarness> {
  const harness = await startHarness(settings)
  const folder = await mkdtemp(join(tmpdir(), "lathe-render-"))
  async function report(path: string, asked = [SMALL], differing: Partial<RenderWork> = {}) {
    const bytes = new Uint8Array(await readFile(path))
    const extension = /\.\w+$/.exec(path)?.[0] ?? ""
    harness.io.reports.length = 0
    harness.io.outputs.clear()
    harness.io.inputs.set("source", bytes)
    const inputs = [{ key: "source", name: `source${extension}`, size_bytes: bytes.length }]
    const work = { ...workOf(asked), ...differing }
    const answer = await harness.call("POST", "/tasks", harness.order([["x"]], { inputs, work }))
    if (answer.status !== 202) throw new Error(`The runner answered ${answer.status}.`)
    return await waitFor(
      () => harness.io.reports.find(({ kind }) => /^(?:finished|failed|interrupted)$/.test(kind)),
      WAIT_SECONDS_MAX,
    )
  }
  return {
    harness,
    folder,
    report,
    async make(name, words) {
      const argv = ["-v", "error", "-nostdin", "-y", ...words.trim().split(/\s+/), name]
      await run("ffmpeg", argv, { cwd: folder })
      return join(folder, name)
    },
    async render(path, asked) {
      const last = await report(path, asked)
      if (last.kind !== "finished") throw new Error(`It failed: ${JSON.stringify(last)}`)
      const result = renderTaskDefinition.result.parse(last.result)
      const paths = result.outputs.map(({ key }) => join(folder, `made-${basename(path)}-${key}`))
      for (const [at, { key }] of result.outputs.entries()) {
        const stored = harness.io.outputs.get(key)
        if (!stored) throw new Error(`Nothing was stored as ${key}.`)
        await writeFile(paths[at] ?? "", stored.bytes)
      }
      return { result, paths }
    },
    async [Symbol.asyncDispose]() {
      try {
        await harness.closeClean()
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
  }
}

function workOf(asked: readonly RenditionRequest[]): RenderWork {
  const renditions = asked.map((each, at) => ({ key: `out_${at + 1}`, ...each }))
  return {
    kind: "render",
    renditions,
    measures_quality: false,
    run_seconds_max: 60,
    outputs: renditions.map(({ key, container }) => ({ key, name: `${key}.${container}` })),
  }
}

const probed = z.object({
  streams: z.array(
    z.looseObject({
      codec_type: z.string(),
      codec_name: z.string(),
      width: z.number().optional(),
      height: z.number().optional(),
      sample_aspect_ratio: z.string().optional(),
      pix_fmt: z.string().optional(),
      r_frame_rate: z.string(),
      avg_frame_rate: z.string(),
      duration: z.string().optional(),
      start_time: z.string(),
      side_data_list: z.array(z.unknown()).optional(),
      tags: z.record(z.string(), z.string()).default({}),
    }),
  ),
  chapters: z.array(z.unknown()),
  format: z.looseObject({
    format_name: z.string(),
    duration: z.string(),
    tags: z.record(z.string(), z.string()).default({}),
  }),
})

/** Returns ffprobe's description of a file. */
export async function probe(path: string): Promise<z.infer<typeof probed>> {
  const argv = "-v error -show_format -show_streams -show_chapters -of json".split(" ")
  const { stdout } = await run("ffprobe", [...argv, path])
  return probed.parse(JSON.parse(stdout))
}

/** Creates a file, renders it once, verifies that the rendition decodes, and returns its probe. */
export async function renderOne(lab: RenderHarness, name: string, words: string) {
  const { result, paths } = await lab.render(await lab.make(name, words))
  const [path = ""] = paths
  await decodeWhole(path)
  const probed = await probe(path)
  return { result, path, probed, video: probed.streams[0] }
}

/** Decodes a whole file; throws on any warning of ffmpeg. */
export async function decodeWhole(path: string): Promise<void> {
  const { stderr } = await run("ffmpeg", `-v warning -xerror -i ${path} -f null -`.split(" "))
  if (stderr.trim() !== "") throw new Error(stderr)
}

/** Returns the times of the frames in seconds, and whether each is a keyframe. */
export async function frameTimes(path: string): Promise<{ seconds: number; isKey: boolean }[]> {
  const words = "-v error -select_streams v:0 -show_entries packet=pts_time,flags -of csv=p=0"
  const { stdout } = await run("ffprobe", [...words.split(" "), path])
  return stdout
    .trim()
    .split("\n")
    .map((line) => line.split(","))
    .map(([time = "", flags = ""]) => ({ seconds: Number(time), isKey: flags.startsWith("K") }))
    .toSorted((one, other) => one.seconds - other.seconds)
}
/** Returns the colour of a pixel at a time, as red, green and blue from 0 to 255. */
export async function colourAt(
  path: string,
  { x, y, seconds = 0 }: { x: number; y: number; seconds?: number },
): Promise<[number, number, number]> {
  const filter = `crop=2:2:${x}:${y}:exact=1,scale=1:1,format=rgb24`
  const words = `-v error -ss ${seconds} -i ${path} -frames:v 1 -vf ${filter} -f rawvideo -`
  const { stdout } = await run("ffmpeg", words.split(" "), { encoding: "buffer" })
  return [stdout[0] ?? 0, stdout[1] ?? 0, stdout[2] ?? 0]
}
