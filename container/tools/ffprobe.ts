import { z } from "zod"
import type { ProbeResult } from "../../src/contract/probe.ts"
import { RunnerError } from "../failures.ts"
import type { TaskSandbox } from "../sandbox/sandbox.ts"
import type { ProcessEnd, ProcessSpec } from "../sandbox/process.ts"
import { startProcess } from "../sandbox/start.ts"
import { pathIn } from "../sandbox/workspace.ts"
import { cleanLines, selectErrorLines } from "./explain.ts"
import { whitelistOptions } from "./ffmpeg-arguments.ts"
import { PACKET_ARGUMENTS, readContent, readRefusal, UNKNOWN_CONTENT } from "./media-content.ts"
import type { MediaContent } from "./media-content.ts"
import { findList, findRefusedFormat } from "./unreadable.ts"
import { startWatched } from "../sandbox/watched-reads.ts"
import type { WatchedFile } from "../sandbox/watched-reads.ts"

export type ProbeOutcome = { probe: ProbeResult } | { reason: string; lines: string[] }

/** What a probe found out, the time that it took, and the lines in which ffprobe complained. */
export type Probed = ProbeOutcome & {
  wallMs: number
  complaints: string[]
  content: MediaContent
  /** Whether ffprobe ended by itself: no limit and no crash ended it. */
  hasExited: boolean
}

const LEADING_ARGUMENTS = [
  ..."-v error -print_format json -show_format -show_streams".split(" "),
  ...whitelistOptions({ protocols: [], formats: [] }),
  "-i",
]
const PROBE_SECONDS_MAX = 60
const STDOUT_BYTES_MAX = 8 * 1024 * 1024

/** Demuxers that accept any text. */
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
 * Probes a file of a workspace. `reason` is the end of a sentence that says why it is not media;
 * throws where ffprobe could not be started, or was killed.
 */
export async function probeFile(request: {
  tool: string
  taskSandbox: TaskSandbox
  workspace: string
  name: string
  signal: AbortSignal
  /** Whether the first packets are read too, for `content`. */
  readsPackets?: boolean
  /** A file whose bytes are brought as they are read, and what hears of one that cannot be. */
  reads?: { file: WatchedFile; onFailure: (error: unknown) => void }
  onSpawn?: () => void
}): Promise<Probed> {
  const spec: ProcessSpec = {
    tool: request.tool,
    // The prefix stops a colon or a leading dash in the name from being interpreted.
    argv: [
      ...(request.readsPackets === true ? PACKET_ARGUMENTS : []),
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
  const started = reads ? startWatched(spec, reads.file, reads.onFailure) : startProcess(spec)
  if (started.pid !== null) request.onSpawn?.()
  const end = await started.finished
  request.signal.throwIfAborted()
  checkEnd(end)
  const { wallMs } = end
  const lines = selectErrorLines(cleanLines(end.stderrTail, request.workspace)).map((line) =>
    line.replace(/^file:/, ""),
  )
  const refused = findRefusedFormat(lines) ?? (await findListOf(request, end))
  const reading = refused ?? lines.at(-1) ?? "it holds no media"
  const reason = reasonOf(end.cause) ?? reading
  const hasExited = end.cause === null && end.signal === null
  const ended = { wallMs, complaints: lines, hasExited }
  if (Buffer.byteLength(end.stdout) >= STDOUT_BYTES_MAX) {
    return { ...ended, content: UNKNOWN_CONTENT, lines, reason: excess() }
  }
  if (end.exitCode !== 0) {
    const content = readRefusal(end.stderrTail)
    return { ...ended, content, lines, reason: trimReason(reason, request.name) }
  }
  const printed = parseJson(end.stdout)
  const path = request.readsPackets === true ? pathIn(request.workspace, request.name) : null
  const content = path === null ? UNKNOWN_CONTENT : await readContent(printed, path)
  return { ...ended, content, ...readOutput(printed, request.name, lines) }
}

/** Why a file that ffprobe could not read is a list; null where it could, or is none. */
async function findListOf(
  { workspace, name }: { workspace: string; name: string },
  { exitCode }: ProcessEnd,
): Promise<string | null> {
  return exitCode === 0 ? null : await findList(pathIn(workspace, name))
}

/** Throws where ffprobe could not be started, or was killed. */
function checkEnd({ cause, signal, spawnError }: ProcessEnd): void {
  if (cause === "spawn_failed") {
    throw new RunnerError("internal", "ffprobe could not be started.", {
      cause: new Error(spawnError ?? ""),
    })
  }
  // The media may crash ffprobe, but only somebody else can send it SIGKILL.
  if (cause === null && signal === "SIGKILL") {
    throw new RunnerError("internal", "ffprobe was ended from outside (SIGKILL).")
  }
}

function readOutput(printed: unknown, name: string, lines: string[]): ProbeOutcome {
  const output = ffprobeOutput.safeParse(printed)
  if (!output.success) return { lines, reason: "ffprobe says nothing that can be read of it" }
  const { streams, format } = output.data
  const parsedFormat = ffprobeFormat.safeParse(format)
  if (!parsedFormat.success || streams.length === 0) return { lines, reason: "it holds no streams" }
  const { format_name, duration } = parsedFormat.data
  if (TEXT_FORMATS.has(format_name)) return { lines, reason: "it is plain text" }
  if (!streams.some(isUsable)) return { lines, reason: "it holds no stream that can be read" }
  const probe = { format_name, streams, format: { ...format, filename: name } }
  return { probe: { ...sizeAndDuration(streams, duration), ...probe } }
}

/** Random bytes can pass for video without a size, or for audio without a sample rate. */
function isUsable(stream: Record<string, unknown>): boolean {
  const { codec_type: type, width, sample_rate: rate } = stream
  if (type === "video") return Number(width) > 0
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

/** What is wrong with media whose reading was ended; null where the reader ended by itself. */
function reasonOf(cause: ProcessEnd["cause"]): string | null {
  if (cause === "out_of_memory") return "it needs more memory than there is"
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
