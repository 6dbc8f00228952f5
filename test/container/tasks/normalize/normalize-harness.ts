import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { promisify } from "node:util"
import { z } from "zod"
import { normalizeTaskDefinition } from "../../../../src/contract/tasks/normalize.ts"
import type { NormalizeResult, NormalizeWork } from "../../../../src/contract/tasks/normalize.ts"
import type { Report } from "../../../../src/contract/report.ts"
import { startHarness } from "../../harness.ts"
import type { Harness } from "../../harness.ts"

const run = promisify(execFile)

/** ffmpeg's words for six seconds of audio with the dynamics of speech. */
export const SOUND =
  "-f lavfi -i anoisesrc=c=pink:r=48000:a=0.5:seed=7:d=6,volume='0.05+0.9*pow(abs(sin(5*t)),3)*(0.5+0.5*abs(sin(t/2)))':eval=frame,aformat=sample_fmts=s16:channel_layouts=stereo"
/** ffmpeg's words for a cover. */
export const COVER = "-f lavfi -i testsrc2=s=64x64:d=1 -frames:v 1"

/** Target of EBU R 128. */
export const EBU = { integrated_lufs: -23, range_lu: 20, true_peak_dbtp: -1 }

/** Result of a successful normalization, and its stored file. */
export type NormalizedFile = { result: NormalizeResult; path: string }

/** Runner, and a folder of media to normalize. */
export type NormalizeHarness = AsyncDisposable & {
  harness: Harness
  folder: string
  /** Creates a file of the folder by ffmpeg; `words` precede its name. */
  make(name: string, words: string): Promise<string>
  /** Copies an Ogg file and adds the cover of a FLAC as a comment. */
  addCover(path: string, flac: string, name: string): Promise<string>
  /** Normalizes a file; returns the last report. */
  report(path: string, target?: NormalizeWork["target"], seconds?: number): Promise<Report>
  /** Normalizes a file; throws unless it succeeds. */
  normalize(path: string, target?: NormalizeWork["target"]): Promise<NormalizedFile>
}

/** Starts a runner for normalizations. */
export async function startNormalizeHarness(): Promise<NormalizeHarness> {
  const harness = await startHarness()
  const folder = await mkdtemp(join(tmpdir(), "lathe-loudness-"))
  async function report(path: string, target = EBU, seconds = 60) {
    const bytes = new Uint8Array(await readFile(path))
    const extension = /\.\w+$/.exec(path)?.[0] ?? ""
    harness.io.reports.length = 0
    harness.io.outputs.clear()
    harness.io.inputs.set("file", bytes)
    const inputs = [{ key: "file", name: `file${extension}`, size_bytes: bytes.length }]
    const outputs = [{ key: "output", name: "output" }]
    const work = { kind: "normalize", target, run_seconds_max: seconds, outputs }
    return await harness.finish(harness.order([["x"]], { inputs, work }))
  }
  async function make(name: string, words: string): Promise<string> {
    const argv = ["-v", "error", "-nostdin", "-y", ...words.trim().split(/\s+/), name]
    await run("ffmpeg", argv, { cwd: folder })
    return join(folder, name)
  }
  return {
    harness,
    folder,
    report,
    make,
    async addCover(path, flac, name) {
      const picture = pictureOf(await readFile(flac))
        .toString("base64")
        .replaceAll("=", String.raw`\=`)
      const tags = `;FFMETADATA1\nMETADATA_BLOCK_PICTURE=${picture}\n`
      await writeFile(join(folder, "picture.txt"), tags)
      return await make(name, `-i ${path} -i picture.txt -map_metadata:g 1 -c copy`)
    },
    async normalize(path, target) {
      const last = await report(path, target)
      if (last.kind !== "finished") throw new Error(`It failed: ${JSON.stringify(last)}`)
      const result = normalizeTaskDefinition.result.parse(last.result)
      const [output] = result.outputs
      const stored = harness.io.outputs.get("output")
      if (!output || !stored) throw new Error("Nothing was stored.")
      const made = join(folder, `made-${basename(path)}-${output.name}`)
      await writeFile(made, stored.bytes)
      return { result, path: made }
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

/** Returns the picture block of a FLAC file. */
function pictureOf(flac: Buffer): Buffer {
  const pictureType = 6
  let at = "fLaC".length
  while (at < flac.length) {
    const size = flac.readUIntBE(at + 1, 3)
    if (((flac[at] ?? 0) & 0x7f) === pictureType) return flac.subarray(at + 4, at + 4 + size)
    at += 4 + size
  }
  throw new Error("The file has no cover.")
}

/**
 * Measures the true peak of a stream in dBTP by ffmpeg's loudnorm, a meter independent of the
 * runner's.
 */
export async function measurePeak(path: string, stream = 0): Promise<number> {
  const filter = "loudnorm=print_format=json"
  const argv = `-nostdin -hide_banner -i ${path} -map 0:a:${stream} -af ${filter} -f null -`
  const { stderr } = await run("ffmpeg", argv.split(" "))
  return Number(/"input_tp" : "([^"]+)"/.exec(stderr)?.[1])
}

const probed = z.object({
  streams: z.array(
    z.looseObject({
      codec_type: z.string(),
      codec_name: z.string().optional(),
      sample_fmt: z.string().optional(),
      sample_rate: z.string().optional(),
      channels: z.number().optional(),
      channel_layout: z.string().optional(),
      bits_per_raw_sample: z.string().optional(),
      disposition: z.record(z.string(), z.number()).default({}),
      tags: z.record(z.string(), z.string()).default({}),
    }),
  ),
  chapters: z.array(z.looseObject({ tags: z.record(z.string(), z.string()).optional() })),
  format: z.looseObject({
    format_name: z.string(),
    duration: z.string().optional(),
    tags: z.record(z.string(), z.string()).default({}),
  }),
})

/** Returns ffprobe's description of a file. */
export async function probe(path: string): Promise<z.infer<typeof probed>> {
  const argv = "-v error -show_format -show_streams -show_chapters -of json".split(" ")
  const { stdout } = await run("ffprobe", [...argv, path])
  return probed.parse(JSON.parse(stdout))
}

/** Returns hashes of the stored packets of streams. */
export async function packetSums(path: string, specifier: string): Promise<string> {
  const argv = `-v error -i ${path} -map 0:${specifier} -c copy -f streamhash -`.split(" ")
  const { stdout } = await run("ffmpeg", argv)
  return stdout.replace(/^\d+,/gm, "")
}
