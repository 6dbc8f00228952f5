import { watchDisk } from "../disk-watch.ts"
import { explain, sayWhere } from "../explain.ts"
import type { Explained, Place } from "../explain.ts"
import { readOomKills } from "../oom-kills.ts"
import { startProcess } from "../process.ts"
import type { ProcessEnd } from "../process.ts"
import { explainLimit } from "../sandbox/limit-failures.ts"
import { noteProcessStarted } from "../run.ts"
import type { Run } from "../run.ts"
import { RunnerError } from "../runner-error.ts"
import { cleanLines, tellingLines } from "../stderr-lines.ts"
import { ffmpegArguments } from "./ffmpeg.ts"
import { openProgressReader } from "./progress.ts"

/** What a program does to itself, and would do again. */
const CRASHES = new Set(["SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS", "SIGTRAP"])
const OUT_OF_MEMORY = /: Cannot allocate memory$/m
/** A file of a list that is not there; ffmpeg goes on with the others and calls it a success. */
const LACKING = /^\[concat @ \S+\] Impossible to open '/m

type Command = {
  words: readonly string[]
  place: Place
  timeLimitMs: number
  onFraction: (fraction: number) => void
  /** Hears what a run that succeeded said of trouble. */
  onTrouble: (lines: string[]) => void
}

/** Runs ffmpeg once in a run's workspace; null says that it succeeded. */
export async function runFfmpeg(
  run: Run,
  command: Command,
): Promise<Explained | "time limit" | null> {
  if (command.timeLimitMs <= 0) return "time limit"
  const reader = openProgressReader(command.words, knownSeconds(run))
  const oomKills = await readOomKills()
  const disk = watchDisk(run.workspace)
  const started = startProcess({
    tool: run.settings.ffmpegPath,
    argv: ffmpegArguments(command.words),
    jail: run.jail,
    cwd: run.workspace,
    access: "write",
    inputBytes: run.order.inputs.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
    timeLimitMs: command.timeLimitMs,
    signal: run.signal,
    onStderrLine: (line) => reader.readStderr(line),
    onProgressLine: (line) => {
      const fraction = reader.readProgress(line)
      if (fraction !== null) command.onFraction(fraction)
    },
  })
  if (started.pid !== null) noteProcessStarted(run, "ffmpeg")
  const end = await started.finished
  const wasDiskFull = await disk.end()
  run.status.processingMs += end.wallMs
  run.signal.throwIfAborted()
  if (end.cause === "spawn_failed") {
    throw new RunnerError("internal", "ffmpeg could not be started.", {
      cause: new Error(end.spawnError ?? ""),
    })
  }
  if (end.cause === "time_limit") return "time limit"
  return await judgeEnd(run, command, end, { wasDiskFull, oomKills })
}

/** What the end of a run means, after the memory kills and the disk that were before it. */
async function judgeEnd(
  run: Run,
  { place, onTrouble }: Command,
  end: ProcessEnd,
  { wasDiskFull, oomKills }: { wasDiskFull: boolean; oomKills: number },
): Promise<Explained | null> {
  const { exitCode, signal, stderrTail: stderr } = end
  const isOutOfMemory = OUT_OF_MEMORY.test(stderr)
  const limit = explainLimit(end.cause, run.jail.sandbox.limits)
  // Some filters ask for memory again and again, and say each time that there is none.
  if (limit && !(isOutOfMemory && limit.code === "output_limit")) {
    const message = sayWhere(place, limit.sentence)
    return { blame: "caller", failure: { code: limit.code, message, lines: [] } }
  }
  // ffmpeg may say success all the same, of a file without its end or an empty pass log.
  if (wasDiskFull) throw new RunnerError("disk_full", "There was no space left on the disk.")
  const isPartial = isOutOfMemory || LACKING.test(stderr)
  if (exitCode === 0 && !isPartial) {
    onTrouble(tellingLines(cleanLines(stderr, run.workspace)))
    return null
  }
  if (signal === null || limit) {
    return explain({ stderr, exitCode, workspace: run.workspace, place })
  }
  const wasOomKilled = signal === "SIGKILL" && (await readOomKills()) > oomKills
  return killed(place, signal, wasOomKilled)
}

function killed(place: Place, signal: string, isOutOfMemory: boolean): Explained {
  if (CRASHES.has(signal)) {
    const message = sayWhere(place, `ffmpeg crashed over this command or its inputs (${signal}).`)
    return { blame: "caller", failure: { code: "command_failed", message, lines: [] } }
  }
  const sentence = isOutOfMemory
    ? "The command needs more memory than there is."
    : `ffmpeg was ended from outside (${signal}).`
  return {
    blame: isOutOfMemory ? "caller" : "ours",
    failure: {
      code: isOutOfMemory ? "out_of_memory" : "internal",
      message: sayWhere(place, sentence),
      lines: [],
    },
  }
}

function knownSeconds(run: Run): ReadonlyMap<string, number> {
  return new Map(
    run.order.inputs.flatMap(({ name, duration_seconds }) =>
      duration_seconds === undefined ? [] : [[name, duration_seconds] as const],
    ),
  )
}
