import { isTextName, lastValue, readCommand } from "../../src/contract/command-line.ts"
import type { ReadCommand, ReadFile } from "../../src/contract/command-line.ts"
import { hasExactLength } from "../../src/contract/probe.ts"
import { describeLateSeek, findLateSeeks } from "../../src/contract/late-seek.ts"
import { parseTime } from "../../src/contract/media-time.ts"
import type { TaskOutput } from "../../src/contract/task.ts"
import { callerFailure } from "../failures.ts"
import type { TaskFailure } from "../failures.ts"
import type { FinishedRun } from "../tools/run-ffmpeg.ts"

const FILTER_OPTIONS = new Set("vf af filter filter_complex lavfi".split(" "))
const DROPPING_FILTER =
  /(?:^|[[\];,\s])(a?select|a?trim|silenceremove|mpdecimate|thumbnail|decimate|blackframe)\b/

/** A filter fps that makes no frame. */
const NO_RATE = /\bfps=(?:fps=)?(?:-|0(?![.\d]))/

/** Muxers that write texts and figures about media. */
const TEXT_MUXERS = new Set(
  "ass crc ffmetadata framecrc framehash framemd5 hash lrc md5 microdvd scc srt streamhash sup ttml webvtt".split(
    " ",
  ),
)

/** The last command that made an output as its own; none where a filter or an option wrote it. */
export function runOf(
  { name }: Pick<TaskOutput, "name">,
  runs: readonly FinishedRun[],
): FinishedRun | null {
  return runs.findLast((run) => findOutput(readCommand(run.argv), name)) ?? null
}

/** Whether an output was to hold neither picture nor sound, so that it may be empty. */
export function isText({ name }: Pick<TaskOutput, "name">, runs: readonly FinishedRun[]): boolean {
  const noted = runOf({ name }, runs)?.notes.outputs.get(name)
  if (!noted) return isTextName(name)
  return TEXT_MUXERS.has(noted.muxer) || noted.video + noted.audio === 0
}

/** The failure of an output that is not there, or holds nothing, with the likely reason. */
export function noOutput(
  { key, name }: TaskOutput,
  problem: string,
  runs: readonly FinishedRun[],
): TaskFailure {
  const run = runOf({ name }, runs)
  const why = run ? `: ${explainEmptiness(run, name)}` : ""
  const message = `The output ${key} ("${name}") ${problem}${why}.`
  return callerFailure("no_output", message, runs.at(-1)?.complaints ?? [])
}

/**
 * Whether an output is a copy of one input from behind its end, for which ffmpeg takes the last
 * pictures that it finds. Create refuses that where it knows the length.
 */
export function isCopiedFromBehind({ name }: TaskOutput, { argv, notes }: FinishedRun): boolean {
  const command = readCommand(argv)
  const output = findOutput(command, name)
  const isCopied = output?.options.some(({ name: option, value }) => {
    return /^(?:c|codec|[va]codec)$/.test(option) && value === "copy"
  })
  if (isCopied !== true) return false
  if (command.files.filter(({ kind }) => kind === "input").length !== 1) return false
  const late = findLateSeeks(command, (input) => {
    const noted = notes.inputs.get(input)
    if (!noted || noted.isEstimate || !hasExactLength(noted.format)) return null
    return noted.seconds
  })
  return late.some((seek) => seek.output === null)
}

/** Why an output of a run holds nothing, likely. */
function explainEmptiness(run: FinishedRun, outputName: string): string {
  const command = readCommand(run.argv)
  const output = findOutput(command, outputName)
  const lengths = new Map(
    [...run.notes.inputs].flatMap(([name, { seconds }]) =>
      seconds === null ? [] : [[name, seconds] as const],
    ),
  )
  const late = findLateSeeks(command, (name) => lengths.get(name) ?? null).find(
    (seek) => seek.output === null || seek.output === outputName,
  )
  if (late) return describeLateSeek(late, lengths)
  if (output && lastValue(output, "f") === "null") return "-f null writes no file"
  const limit = output ? findZeroLimit(output) : null
  if (limit !== null) return `${limit} leaves nothing of it; write a larger number, or leave it out`
  const filters = filtersOf(command)
  if (NO_RATE.test(filters)) return "write more than 0 frames a second in the filter fps, as fps=25"
  const dropping = DROPPING_FILTER.exec(filters)?.[1]
  if (dropping !== undefined) return `the filter "${dropping}" may have let nothing through`
  if (filters !== "") return "check what its filters let through, and -ss, -t, -to and -frames"
  return "check -ss, -t, -to and -frames, and whether the input holds what is mapped"
}

function findOutput({ files }: ReadCommand, name: string): ReadFile | undefined {
  return files.findLast(({ kind, word }) => kind === "output" && word === name)
}

/** The option of an output that leaves it no time or no frame, as it stands there. */
function findZeroLimit({ options }: ReadFile): string | null {
  const zero = options.find(
    ({ name, value }) =>
      (/^(?:t|to)$/.test(name) && parseTime(value ?? undefined) === 0) ||
      (/^[va]?frames$/.test(name) && Number(value) === 0),
  )
  return zero ? `${zero.word} ${zero.value}` : null
}

function filtersOf({ files, trailing }: ReadCommand): string {
  return [...files.flatMap(({ options }) => options), ...trailing]
    .flatMap(({ name, value }) => (FILTER_OPTIONS.has(name) ? [value ?? ""] : []))
    .join(";")
}
