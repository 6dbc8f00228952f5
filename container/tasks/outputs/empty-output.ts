import {
  isTextFileName,
  findLastOptionValue,
  parseFfmpegCommand,
} from "../../../src/ffmpeg/command-line.ts"
import type { ParsedCommand, CommandFile } from "../../../src/ffmpeg/command-line.ts"
import { doesFormatStoreExactDuration } from "../../../src/contract/probe.ts"
import { describeSeekPastEnd, findSeeksPastEnd } from "../../../src/ffmpeg/seek-past-end.ts"
import { parseFfmpegTime } from "../../../src/ffmpeg/media-time.ts"
import type { TaskOutput } from "../../../src/contract/task.ts"
import { createCallerFailure } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import type { FinishedFfmpegRun } from "../../tools/ffmpeg/run-ffmpeg.ts"

const FILTER_OPTIONS = new Set("vf af filter filter_complex lavfi".split(" "))
const DROPPING_FILTER =
  /(?:^|[[\];,\s])(a?select|a?trim|silenceremove|mpdecimate|thumbnail|decimate|blackframe)\b/

/** Matches the filter `fps` with a rate of zero or less, which results in no frames. */
const NO_RATE = /\bfps=(?:fps=)?(?:-|0(?![.\d]))/

/**
 * Muxers that write text, such as subtitles or checksums, so that their output has neither picture
 * nor sound.
 */
const TEXT_MUXERS = new Set(
  "ass crc ffmetadata framecrc framehash framemd5 hash lrc md5 microdvd scc srt streamhash sup ttml webvtt".split(
    " ",
  ),
)

/**
 * Returns the last run of ffmpeg that names a file as its output; null if no run does, because a
 * filter or another option wrote the file.
 */
export function findRunThatWroteOutput(
  { name }: Pick<TaskOutput, "name">,
  runs: readonly FinishedFfmpegRun[],
): FinishedFfmpegRun | null {
  return runs.findLast((run) => findOutput(parseFfmpegCommand(run.argv), name)) ?? null
}

/**
 * Reports whether an output is meant to have neither picture nor sound, such as subtitles. Such an
 * output may be empty.
 */
export function isTextOutput(
  { name }: Pick<TaskOutput, "name">,
  runs: readonly FinishedFfmpegRun[],
): boolean {
  const noted = findRunThatWroteOutput({ name }, runs)?.notes.outputs.get(name)
  if (!noted) return isTextFileName(name)
  return TEXT_MUXERS.has(noted.muxer) || noted.video + noted.audio === 0
}

/** Returns the failure for a missing or empty output. The message contains the likely reason. */
export function emptyOutputFailure(
  { key, name }: TaskOutput,
  problem: string,
  runs: readonly FinishedFfmpegRun[],
): TaskFailure {
  const run = findRunThatWroteOutput({ name }, runs)
  const why = run ? `: ${explainEmptiness(run, name)}` : ""
  const message = `The output ${key} ("${name}") ${problem}${why}.`
  return createCallerFailure("no_output", message, runs.at(-1)?.complaints ?? [])
}

/**
 * Reports whether an output is a stream copy that starts past the end of its only input. Such an
 * output is not empty, because ffmpeg copies the last frames of the input. The API has not refused
 * the command if it did not know the duration of the input.
 */
export function isStreamCopyPastInputEnd(
  { name }: TaskOutput,
  { argv, notes }: FinishedFfmpegRun,
): boolean {
  const command = parseFfmpegCommand(argv)
  const output = findOutput(command, name)
  const isCopied = output?.options.some(({ name: option, value }) => {
    return /^(?:c|codec|[va]codec)$/.test(option) && value === "copy"
  })
  if (isCopied !== true) return false
  if (command.files.filter(({ kind }) => kind === "input").length !== 1) return false
  const late = findSeeksPastEnd(command, (input) => {
    const noted = notes.inputs.get(input)
    if (!noted || noted.isEstimate || !doesFormatStoreExactDuration(noted.format)) return null
    return noted.seconds
  })
  return late.some((seek) => seek.output === null)
}

/** Returns the likely reason why an output of an ffmpeg run is empty. */
function explainEmptiness(run: FinishedFfmpegRun, outputName: string): string {
  const command = parseFfmpegCommand(run.argv)
  const output = findOutput(command, outputName)
  const lengths = new Map(
    [...run.notes.inputs].flatMap(([name, { seconds }]) =>
      seconds === null ? [] : [[name, seconds] as const],
    ),
  )
  const late = findSeeksPastEnd(command, (name) => lengths.get(name) ?? null).find(
    (seek) => seek.output === null || seek.output === outputName,
  )
  if (late) return describeSeekPastEnd(late, lengths)
  if (output && findLastOptionValue(output, "f") === "null") return "-f null writes no file"
  const limit = output ? findZeroLimit(output) : null
  if (limit !== null) return `${limit} leaves it empty; write a larger number, or omit the option`
  const filters = filtersOf(command)
  if (NO_RATE.test(filters)) return "write more than 0 frames a second in the filter fps, as fps=25"
  const dropping = DROPPING_FILTER.exec(filters)?.[1]
  if (dropping !== undefined) return `the filter "${dropping}" may have dropped everything`
  if (filters !== "") return "check what its filters let through, and -ss, -t, -to and -frames"
  return "check -ss, -t, -to and -frames, and whether the input holds what is mapped"
}

function findOutput({ files }: ParsedCommand, name: string): CommandFile | undefined {
  return files.findLast(({ kind, word }) => kind === "output" && word === name)
}

/**
 * Returns the option that limits an output to a duration of 0 or to no frames, as written in the
 * command. Returns null if there is no such option.
 */
function findZeroLimit({ options }: CommandFile): string | null {
  const zero = options.find(
    ({ name, value }) =>
      (/^(?:t|to)$/.test(name) && parseFfmpegTime(value ?? undefined) === 0) ||
      (/^[va]?frames$/.test(name) && Number(value) === 0),
  )
  return zero ? `${zero.word} ${zero.value}` : null
}

function filtersOf({ files, trailing }: ParsedCommand): string {
  return [...files.flatMap(({ options }) => options), ...trailing]
    .flatMap(({ name, value }) => (FILTER_OPTIONS.has(name) ? [value ?? ""] : []))
    .join(";")
}
