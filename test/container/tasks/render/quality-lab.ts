import { execFile } from "node:child_process"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { z } from "zod"
import { chooseSandbox } from "../../../../container/sandbox/tiers/choose-sandbox.ts"
import {
  destroyTaskSandbox,
  createTaskSandbox,
} from "../../../../container/sandbox/task-sandbox.ts"
import { createWorkspace } from "../../../../container/sandbox/workspace.ts"
import { outputZeroTimestamp } from "../../../../container/tasks/render/render.ts"
import type { QualityMeasurementContext } from "../../../../container/tasks/render/compare-segment.ts"
import type {
  EncodedRendition,
  ComparisonSource,
} from "../../../../container/tasks/render/measure-quality.ts"
import { makeTestRunnerSettings } from "../../../support/runner/runner-settings.ts"

const run = promisify(execFile)

export type QualityLab = AsyncDisposable & {
  context: QualityMeasurementContext
  /** Returns the names of the files in the workspace. */
  files(): Promise<string[]>
  /** Creates a file of the workspace by ffmpeg without a sandbox; `words` precede its name. */
  make(name: string, words: string): Promise<string>
  /**
   * Encodes a rendition of a source's first video stream and one audio stream, as a render task
   * does.
   */
  encode(source: ComparisonSource, as: Encode): Promise<EncodedRendition>
  /**
   * Describes a source for a measurement; `sound` is the index of its audio stream, by default the
   * first.
   */
  describe(name: string, sound?: number): Promise<ComparisonSource>
}

type Encode = {
  name: string
  filters: string
  rate: readonly [frames: number, seconds: number]
  /** Words of the encoder; lossless by default. */
  words?: string
  /** Index of its audio stream, if the source has one. */
  sound?: number
}

const probed = z.object({
  format: z.object({
    format_name: z.string(),
    start_time: z.coerce.number(),
    duration: z.coerce.number(),
  }),
  streams: z.array(
    z.object({
      index: z.int(),
      codec_type: z.string(),
      start_time: z.coerce.number().catch(0),
    }),
  ),
})

const LOSSLESS = "-c:v libx264 -preset ultrafast -qp 0 -bf 3"

/** Opens a workspace and the sandbox of a task; `ffmpeg` is the path of another build. */
export async function openQualityLab({
  ffmpeg,
  signal = new AbortController().signal,
}: { ffmpeg?: string; signal?: AbortSignal } = {}): Promise<QualityLab> {
  const workDir = await mkdtemp(join(tmpdir(), "lathe-quality-"))
  const read = makeTestRunnerSettings()
  const toolPaths = { ...read.toolPaths, ...(ffmpeg !== undefined && { ffmpeg }) }
  const settings = { ...read, workDir, toolPaths }
  const { sandbox } = await chooseSandbox(settings)
  if (!sandbox) throw new Error("There is no sandbox.")
  const taskSandbox = createTaskSandbox(sandbox)
  const taskId = crypto.randomUUID()
  const workspace = await createWorkspace(workDir, { taskId, fence: 1 }, taskSandbox.uid)
  async function probe(name: string, entries: string, form = "csv=p=0"): Promise<string> {
    const words = ["-v", "error", "-show_entries", entries, "-of", form, name]
    return (await run("ffprobe", words, { cwd: workspace })).stdout.trim()
  }
  async function make(name: string, words: string, tool = "ffmpeg"): Promise<string> {
    const argv = ["-v", "error", "-nostdin", "-y", ...words.trim().split(/\s+/), name]
    await run(tool, argv, { cwd: workspace })
    return name
  }
  return {
    context: {
      order: emptyOrder(taskId),
      settings,
      status: emptyStatus(taskId),
      workspace,
      taskSandbox,
      signal,
    },
    files: () => readdir(workspace),
    make,
    async encode({ name: source, videoStream }, as) {
      const { name, filters, rate, words = LOSSLESS, sound = 0 } = as
      const gop = Math.round((2 * rate[0]) / rate[1])
      const graph = `-filter_complex [0:${videoStream}]${filters}[v] -map [v] -map 0:a:${sound}?`
      const keyframes = `-g ${gop} -keyint_min ${gop} -sc_threshold 0`
      // Encodes by the build that compares: filters of another build differ slightly.
      const line = `-noautorotate -i ${source} ${graph} ${words} ${keyframes}`
      await make(name, line, read.toolPaths.ffmpeg)
      const frameRate = { frames: rate[0], seconds: rate[1] }
      return { key: name, name, filters: filters.split(","), frameRate }
    },
    async describe(name, sound = 0) {
      const entries = "format=format_name,start_time,duration:stream=index,codec_type,start_time"
      const { format, streams } = probed.parse(JSON.parse(await probe(name, entries, "json")))
      const video = streams.find(({ codec_type: type }) => type === "video")
      const audio = streams.filter(({ codec_type: type }) => type === "audio")[sound]
      const file = { formatName: format.format_name, startSeconds: format.start_time }
      const starts = [video, audio].flatMap((stream) => (stream ? [stream.start_time] : []))
      return {
        name,
        videoStream: video?.index ?? 0,
        startSeconds: outputZeroTimestamp(file, starts),
        durationSeconds: format.duration,
      }
    },
    async [Symbol.asyncDispose]() {
      await destroyTaskSandbox(taskSandbox, workspace)
      await rm(workDir, { recursive: true, force: true })
    },
  }
}

function emptyOrder(taskId: string): QualityMeasurementContext["order"] {
  return {
    task_id: taskId,
    job_id: crypto.randomUUID(),
    fence: 1,
    slot: "slot",
    allocation: 1,
    io: { origin: "http://127.0.0.1:1", token: "a-token" },
    inputs: [],
    work: { kind: "render", outputs: [] },
  }
}

function emptyStatus(taskId: string): QualityMeasurementContext["status"] {
  return {
    taskId,
    jobId: crypto.randomUUID(),
    fence: 1,
    state: "running",
    phase: "working",
    requestId: null,
    processStartedAt: null,
    processingMs: 0,
  }
}
