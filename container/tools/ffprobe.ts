import { z } from "zod"
import type { ProbeResult } from "../../src/contract/probe.ts"
import { startProcess } from "../process.ts"
import type { Jail } from "../sandbox/sandbox.ts"
import { RunnerError } from "../runner-error.ts"
import { findUnreadFormat } from "../explain-unread.ts"
import { cleanLines, tellingLines } from "../stderr-lines.ts"
import { readingOptionsFor } from "./ffmpeg.ts"

export type Probed = { probe: ProbeResult } | { reason: string; lines: string[] }

const LEADING_WORDS = [
  ..."-v error -print_format json -show_format -show_streams".split(" "),
  ...readingOptionsFor({ protocols: [], formats: [] }),
  "-i",
]
const PROBE_SECONDS_MAX = 60
const STDOUT_BYTES_MAX = 8 * 1024 * 1024

/** Demuxers that take any text for media. */
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

const ffprobeAnswer = z.object({
  streams: z.array(z.record(z.string(), z.unknown())).default([]),
  format: z.record(z.string(), z.unknown()),
})

const ffprobeFormat = z.looseObject({ format_name: z.string(), duration: seconds })

/**
 * Asks ffprobe about a file of a workspace. `reason` is a sentence's end that says why it is not
 * media; throws where ffprobe itself could not work.
 */
export async function probeFile(order: {
  tool: string
  jail: Jail
  workspace: string
  name: string
  signal: AbortSignal
  onSpawn?: () => void
}): Promise<Probed & { wallMs: number }> {
  const started = startProcess({
    tool: order.tool,
    // The prefix keeps a name with a colon or a leading dash from being read as anything else.
    argv: [...LEADING_WORDS, `file:${order.name}`],
    jail: order.jail,
    cwd: order.workspace,
    access: "read",
    timeLimitMs: PROBE_SECONDS_MAX * 1000,
    stdoutBytesMax: STDOUT_BYTES_MAX,
    signal: order.signal,
  })
  if (started.pid !== null) order.onSpawn?.()
  const end = await started.finished
  order.signal.throwIfAborted()
  if (end.cause === "spawn_failed") {
    throw new RunnerError("internal", "ffprobe could not be started.", {
      cause: new Error(end.spawnError ?? ""),
    })
  }
  // A crash may be the media's doing; nothing in media sends this signal.
  if (end.cause === null && end.signal === "SIGKILL") {
    throw new RunnerError("internal", "ffprobe was ended from outside (SIGKILL).")
  }
  const { wallMs } = end
  const lines = tellingLines(cleanLines(end.stderrTail, order.workspace)).map((line) =>
    line.replace(/^file:/, ""),
  )
  const unread = findUnreadFormat(lines) ?? lines.at(-1) ?? "it holds no media"
  const reason = end.cause === "time_limit" ? tooSlow() : unread
  if (end.exitCode !== 0) return { wallMs, lines, reason: trimReason(reason, order.name) }
  return { wallMs, ...readAnswer(end.stdout, order.name, lines) }
}

function readAnswer(stdout: string, name: string, lines: string[]): Probed {
  const answer = ffprobeAnswer.safeParse(parseJson(stdout))
  if (!answer.success) return { lines, reason: "ffprobe says nothing that can be read of it" }
  const { streams, format } = answer.data
  const formatFacts = ffprobeFormat.safeParse(format)
  if (!formatFacts.success || streams.length === 0) return { lines, reason: "it holds no streams" }
  const { format_name, duration } = formatFacts.data
  if (TEXT_FORMATS.has(format_name)) return { lines, reason: "it is plain text" }
  if (!streams.some(isUsable)) return { lines, reason: "it holds no stream that can be read" }
  const probe = { format_name, streams, format: { ...format, filename: name } }
  return { probe: { ...sizeAndDuration(streams, duration), ...probe } }
}

/** Noise passes for a picture without a size, or for sound without a rate. */
function isUsable(stream: Record<string, unknown>): boolean {
  const { codec_type: type, width, sample_rate: rate } = stream
  if (type === "video") return Number(width) > 0
  return type !== "audio" || Number(rate) > 0
}

function sizeAndDuration(
  streams: ProbeResult["streams"],
  formatSeconds: number | undefined,
): Pick<ProbeResult, "width" | "height" | "duration"> {
  const facts = streams.map((stream) => ffprobeStream.parse(stream))
  const videos = facts.filter((stream) => stream.codec_type === "video")
  const picture = videos.find((stream) => stream.disposition?.attached_pic !== 1) ?? videos[0]
  const longest = Math.max(...facts.map((stream) => stream.duration ?? 0))
  const duration = formatSeconds ?? (longest > 0 ? longest : undefined)
  return {
    ...(picture?.width !== undefined && { width: picture.width }),
    ...(picture?.height !== undefined && { height: picture.height }),
    ...(duration !== undefined && { duration }),
  }
}

function tooSlow(): string {
  return `it could not be read within ${PROBE_SECONDS_MAX} seconds`
}

function trimReason(line: string, name: string): string {
  const reason = line.startsWith(`${name}: `) ? line.slice(name.length + 2) : line
  return reason.replace(/\.$/, "").slice(0, 300)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
