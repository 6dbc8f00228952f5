import { z } from "zod"
import type { ProbeResult } from "../../../src/contract/probe.ts"
import { RunnerError } from "../../task-failure.ts"
import { parseJson } from "../../parse-json.ts"
import type { TaskSandbox } from "../../sandbox/sandbox.ts"
import type { ToolProcessResult, ToolProcessSpec } from "../../sandbox/tool-process.ts"
import { startToolProcess } from "../../sandbox/start-process.ts"
import { buildWorkspacePath } from "../../sandbox/workspace.ts"
import { cleanToolLines, selectErrorLines } from "./explain-failure.ts"
import { whitelistOptions } from "./ffmpeg-arguments.ts"
import {
  FIRST_PACKETS_ARGUMENTS,
  readMediaContent,
  inferMediaContentFromProbeErrors,
  UNKNOWN_MEDIA_CONTENT,
} from "./media-content.ts"
import type { MediaContent } from "./media-content.ts"
import { findFileListReason, findRefusedFormatReason } from "./unreadable-inputs.ts"
import type { UnreadableFileProbe } from "./unreadable-inputs.ts"
import { readFirstBytes } from "../first-bytes.ts"
import { startProcessWithOnDemandFile } from "../../sandbox/watched-reads.ts"
import type { OnDemandFile } from "../../sandbox/watched-reads.ts"

export type ProbeOutcome = { probe: ProbeResult } | (UnreadableFileProbe & { lines: string[] })

/**
 * Outcome of a run of ffprobe. `wallMs` is the wall-clock time of the run, `complaints` are the
 * error lines, and `content` is the media that the file contains.
 */
export type ProbeRun = ProbeOutcome & {
  wallMs: number
  complaints: string[]
  content: MediaContent
  /** Whether ffprobe exited by itself. False after a crash, or if a limit ended ffprobe. */
  hasExited: boolean
}

const LEADING_ARGUMENTS = [
  ..."-v error -print_format json -show_format -show_streams".split(" "),
  ...whitelistOptions({ protocols: [], formats: [] }),
  "-i",
]
const PROBE_SECONDS_MAX = 60
const STDOUT_BYTES_MAX = 8 * 1024 * 1024

/**
 * Demuxers that accept any text file, so that their acceptance does not prove a file to be media.
 */
const TEXT_FORMATS = new Set(["tty"])

const seconds = z.coerce.number().nonnegative().optional().catch(undefined)
const size = z.int().positive().optional().catch(undefined)

const ffprobeStream = z.looseObject({
  codec_type: z.string().optional(),
  width: size,
  height: size,
  duration: seconds,
  disposition: z.object({ attached_pic: z.number().optional() }).optional(),
})

const ffprobeOutput = z.object({
  streams: z.array(z.record(z.string(), z.unknown())).default([]),
  format: z.record(z.string(), z.unknown()),
})

const ffprobeFormat = z.looseObject({ format_name: z.string(), duration: seconds })

/**
 * Probes a file in a workspace by ffprobe. For a file that is not readable media, the result
 * contains a `reason`, such as "it is plain text". Throws if ffprobe could not be started or was
 * killed.
 */
export async function probeFile(request: {
  tool: string
  taskSandbox: TaskSandbox
  workspace: string
  name: string
  signal: AbortSignal
  /** Whether ffprobe also reads the first packets, from which `content` is derived. */
  readsPackets?: boolean
  /**
   * Input file of which a part is downloaded only when ffprobe reads that part, and the function
   * that is called if a download fails.
   */
  reads?: { file: OnDemandFile; onFailure: (error: unknown) => void }
  onSpawn?: () => void
}): Promise<ProbeRun> {
  const spec: ToolProcessSpec = {
    tool: request.tool,
    // The prefix `file:` keeps ffprobe from interpreting a colon or a leading dash in the name.
    argv: [
      ...(request.readsPackets === true ? FIRST_PACKETS_ARGUMENTS : []),
      ...LEADING_ARGUMENTS,
      `file:${request.name}`,
    ],
    taskSandbox: request.taskSandbox,
    cwd: request.workspace,
    access: "read",
    timeLimitMs: PROBE_SECONDS_MAX * 1000,
    stdoutBytesMax: STDOUT_BYTES_MAX,
    signal: request.signal,
  }
  const { reads } = request
  const started = reads
    ? startProcessWithOnDemandFile(spec, reads.file, reads.onFailure)
    : startToolProcess(spec)
  if (started.pid !== null) request.onSpawn?.()
  const end = await started.finished
  request.signal.throwIfAborted()
  checkEnd(end)
  const cleaned = cleanToolLines(end.stderrTail, request.workspace)
  const lines = selectErrorLines(cleaned).map((line) => line.replace(/^file:/, ""))
  const hasExited = end.cause === null && end.signal === null
  const ended = { wallMs: end.wallMs, complaints: lines, hasExited }
  const path = buildWorkspacePath(request.workspace, request.name)
  const isCut = Buffer.byteLength(end.stdout) >= STDOUT_BYTES_MAX
  if (end.exitCode === 0 && !isCut) {
    const printed = parseJson(end.stdout)
    const content = request.readsPackets
      ? await readMediaContent(printed, path)
      : UNKNOWN_MEDIA_CONTENT
    const read = readOutput(printed, request.name)
    if ("probe" in read) return { ...ended, content, ...read }
    return { ...ended, content, ...read, lines, head: await readFirstBytes(path) }
  }
  const head = await readFirstBytes(path)
  if (isCut) return { ...ended, content: UNKNOWN_MEDIA_CONTENT, lines, head, reason: excess() }
  const reading =
    findRefusedFormatReason(lines) ??
    findFileListReason(head) ??
    lines.at(-1) ??
    "it holds no media"
  const reason = trimReason(reasonOf(end.cause) ?? reading, request.name)
  const inferred = inferMediaContentFromProbeErrors(end.stderrTail)
  return { ...ended, content: inferred, lines, head, reason }
}

/** Throws a RunnerError if ffprobe could not be started or was killed. */
function checkEnd({ cause, signal, spawnError }: ToolProcessResult): void {
  if (cause === "spawn_failed") {
    throw new RunnerError("internal", "ffprobe could not be started.", {
      cause: new Error(spawnError ?? ""),
    })
  }
  // Treats SIGKILL as a failure of the service, since it comes from another process. Damaged media
  // may crash ffprobe, but with other signals.
  if (cause === null && signal === "SIGKILL") {
    throw new RunnerError("internal", "ffprobe was killed from outside (SIGKILL).")
  }
}

/**
 * Parses the output of ffprobe. Returns the probe, or the reason why the file contains no media,
 * such as "it holds no streams".
 */
function readOutput(printed: unknown, name: string): { probe: ProbeResult } | { reason: string } {
  const output = ffprobeOutput.safeParse(printed)
  if (!output.success) return { reason: "ffprobe returns no readable metadata" }
  const { streams, format } = output.data
  const parsedFormat = ffprobeFormat.safeParse(format)
  if (!parsedFormat.success || streams.length === 0) return { reason: "it holds no streams" }
  const { format_name, duration } = parsedFormat.data
  if (TEXT_FORMATS.has(format_name)) return { reason: "it is plain text" }
  if (!streams.some(isUsable)) return { reason: "it holds no stream that can be read" }
  const probe = { format_name, streams, format: { ...format, filename: name } }
  return { probe: { ...sizeAndDuration(streams, duration), ...probe } }
}

/**
 * Reports whether a stream is plausible: ffprobe may detect random bytes as video without a size,
 * or as audio without a sample rate. A movie whose index is cut off has streams of data without a
 * codec.
 */
function isUsable(stream: Record<string, unknown>): boolean {
  const { codec_type: type, codec_name: codec, codec_tag: tag, width, sample_rate: rate } = stream
  if (type === "video") return Number(width) > 0
  if (type === "data") return codec !== undefined || Number(tag) > 0
  return type !== "audio" || Number(rate) > 0
}

function sizeAndDuration(
  streams: ProbeResult["streams"],
  formatSeconds: number | undefined,
): Pick<ProbeResult, "width" | "height" | "duration"> {
  const parsed = streams.map((stream) => ffprobeStream.parse(stream))
  const videos = parsed.filter((stream) => stream.codec_type === "video")
  const picture = videos.find((stream) => stream.disposition?.attached_pic !== 1) ?? videos[0]
  const longest = Math.max(...parsed.map((stream) => stream.duration ?? 0))
  const duration = formatSeconds ?? (longest > 0 ? longest : undefined)
  return {
    ...(picture?.width !== undefined && { width: picture.width }),
    ...(picture?.height !== undefined && { height: picture.height }),
    ...(duration !== undefined && { duration }),
  }
}

/**
 * Returns the reason why a file could not be read if a limit ended the probe, such as "it exceeds
 * the memory limit". Returns null if no limit ended the probe.
 */
function reasonOf(cause: ToolProcessResult["cause"]): string | null {
  if (cause === "out_of_memory") return "it exceeds the memory limit"
  return cause === "time_limit" ? timeoutReason() : null
}

function timeoutReason(): string {
  return `it could not be read within ${PROBE_SECONDS_MAX} seconds`
}

function trimReason(line: string, name: string): string {
  const reason = line.startsWith(`${name}: `) ? line.slice(name.length + 2) : line
  return reason.replace(/\.$/, "").slice(0, 300)
}

function excess(): string {
  return `its metadata has more than ${STDOUT_BYTES_MAX / 1024 ** 2} MiB`
}
