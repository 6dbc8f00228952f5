import {
  NORMALIZED_OUTPUT_KEY,
  normalizeTaskDefinition,
} from "../../../src/contract/tasks/normalize.ts"
import type {
  Loudness,
  NormalizeResult,
  NormalizeWork,
} from "../../../src/contract/tasks/normalize.ts"
import { createCallerFailure, RunnerError } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import { checkAndStoreOutputs } from "../outputs/finish-outputs.ts"
import { writeNormalizedFile } from "./write-normalized-file.ts"
import type { NormalizedFile } from "./write-normalized-file.ts"
import { startRunClock } from "../run-clock.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext, TaskOutcome } from "../run-context.ts"
import { downloadSingleInput, probeSingleInput } from "../single-input.ts"
import type { OutputReport } from "../../../src/contract/report.ts"
import { TASK_WARNINGS_MAX } from "../../../src/contract/warning.ts"
import type { Warning } from "../../../src/contract/warning.ts"
import { sourceContainerName } from "../../tools/loudness/audio-containers.ts"
import { findAudioEncoder } from "../../tools/loudness/audio-encoders.ts"
import { meetsLoudnessTarget } from "../../tools/loudness/gain.ts"
import type { LoudnessGain, LoudnessTarget, LoudnessTolerance } from "../../tools/loudness/gain.ts"
import type { StreamLoudness } from "../../tools/loudness/loudness-meter.ts"
import type { MeasuredInput } from "./apply-gains.ts"
import { buildWorkspacePath } from "../../sandbox/workspace.ts"
import { channelLayoutFilters } from "../../tools/loudness/gain-filters.ts"
import { readMovieHeader } from "../../tools/ffmpeg/movie-header.ts"
import { readNormalizationSource } from "../../tools/loudness/normalization-source.ts"
import type { NormalizationSource } from "../../tools/loudness/normalization-source.ts"
import { encryptedAudioFailure, createNoAudioFailure } from "../audio-failures.ts"
import { measureStreamLoudness } from "./measure-streams.ts"
import type { LoudnessMeasurement } from "./measure-streams.ts"
import { explainUnreadableFile } from "../../tools/ffmpeg/unreadable-inputs.ts"

export const normalizeTaskHandler = { definition: normalizeTaskDefinition, run: runNormalizeTask }

/**
 * Runs a normalization task: measures the loudness of the input, applies gains, measures the output
 * and stores the output.
 */
async function runNormalizeTask(
  context: RunContext,
  work: NormalizeWork,
): Promise<TaskOutcome<NormalizeResult>> {
  const input = await downloadSingleInput(context, "A normalization")
  const clock = startRunClock(context, {
    secondsMax: work.run_seconds_max,
    what: "a normalization",
  })
  const source = await readInput(context, input)
  if ("failure" in source) return source
  const measurement = await measureInput(context, clock, input, source)
  if ("failure" in measurement) return measurement
  const { measured: before, run } = measurement
  const file = { input, source, before, target: work.target }
  const outputFile = await writeNormalizedFile(context, clock, file)
  if ("failure" in outputFile) return outputFile
  const output = { key: work.outputs[0]?.key ?? NORMALIZED_OUTPUT_KEY, name: outputFile.name }
  const outcome = await checkAndStoreOutputs(context, [output], [run, ...outputFile.runs])
  if ("failure" in outcome) return outcome
  const [report] = outcome.outputs
  if (!report) throw new RunnerError("internal", "A normalization has no output.")
  const { warnings } = outcome
  return { result: describeResult(file, outputFile, { output: report, warnings }) }
}

const EXACT: LoudnessTolerance = { loudnessLu: 0.3, peakDb: 0 }
const USUAL: LoudnessTolerance = { loudnessLu: 0.5, peakDb: 0.5 }

/** Returns the result of a normalization task, including its warnings. */
function describeResult(
  file: MeasuredInput,
  output: NormalizedFile,
  stored: { output: OutputReport; warnings: readonly Warning[] },
): NormalizeResult {
  const missed = findMissedTargets(file, output)
  const was = {
    container: sourceContainerName(file.source),
    codec: file.source.audio[0]?.codec ?? "",
  }
  const isKept =
    was.container === output.container &&
    file.source.audio.every(({ codec }, order) => codec === output.codecs[order])
  const warnings = [
    ...unmeasuredWarnings(file.before),
    ...(isKept ? [] : [formatWarning(was, output)]),
    ...missed,
    ...stored.warnings,
  ]
  const isMeasured = output.after.some(({ integratedLufs }) => integratedLufs !== null)
  return {
    kind: "normalize",
    outputs: [{ ...stored.output, name: output.name }],
    measurements: { before: describe(file.before[0]), after: describe(output.after[0]) },
    normalization_type: typeOf(output.gains),
    target_reached: isMeasured && missed.length === 0,
    format: { container: output.container, codec: output.codecs[0] ?? was.codec },
    converted_from: isKept ? null : was,
    warnings: warnings.slice(0, TASK_WARNINGS_MAX),
  }
}

/** Returns a warning for each audio stream that missed its target loudness. */
function findMissedTargets(
  { target }: MeasuredInput,
  { after, gains, codecs }: NormalizedFile,
): Warning[] {
  return after.flatMap((measured, order) => {
    const isLossless = findAudioEncoder(codecs[order] ?? "")?.isLossless === true
    const isExact = isLossless && gains[order]?.type !== "dynamic"
    if (meetsLoudnessTarget(measured, target, isExact ? EXACT : USUAL)) return []
    return [missedWarning(measured, target, { order, count: after.length })]
  })
}

function typeOf(gains: readonly LoudnessGain[]): LoudnessGain["type"] {
  const types = gains.map(({ type }) => type)
  return (
    types.find((type) => type === "dynamic") ?? types.find((type) => type === "linear") ?? "none"
  )
}

function describe(measured: StreamLoudness | undefined): Loudness {
  return {
    integrated_lufs: round(measured?.integratedLufs),
    range_lu: round(measured?.rangeLu),
    true_peak_dbtp: round(measured?.truePeakDbtp),
  }
}

function round(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Math.round(value * 100) / 100
}

/**
 * Distance below the maximum true peak, in dB. If the true peak of an output is within this
 * distance, the maximum is the likely reason why the output missed its target loudness.
 */
const PEAK_ROOM_DB = 1

/**
 * Returns a warning for each audio stream that was left unchanged because the stream is too short
 * or silent.
 */
function unmeasuredWarnings(before: readonly StreamLoudness[]): Warning[] {
  return before.flatMap((measured, order) => {
    if (measured.integratedLufs !== null) return []
    const label = labelOf(order, before.length)
    const { code, reason } = measured.isTooShort
      ? { code: "too_short" as const, reason: "is shorter than 0.4 seconds" }
      : { code: "silent" as const, reason: "is silent" }
    return [{ code, message: `${label} ${reason}, so it was left unchanged.` }]
  })
}

/** Returns the warning for an audio stream that missed its target loudness. */
function missedWarning(
  after: StreamLoudness,
  target: LoudnessTarget,
  { order, count }: { order: number; count: number },
): Warning {
  const { integratedLufs, truePeakDbtp } = after
  const { true_peak_dbtp } = target
  const loudness = `${figure(integratedLufs)} LUFS rather than ${target.integrated_lufs}`
  const peak = `, and a true peak of ${figure(truePeakDbtp)} dBTP, where ${true_peak_dbtp} is allowed`
  const isAtPeak = truePeakDbtp !== null && truePeakDbtp > true_peak_dbtp - PEAK_ROOM_DB
  const message = `${labelOf(order, count)} did not reach the target: it has ${loudness}${isAtPeak ? peak : ""}.`
  return { code: "target_not_reached", message }
}

/**
 * Returns the warning for an output whose container or codec differs from the container or codec of
 * the input.
 */
function formatWarning(
  was: { container: string; codec: string },
  is: { container: string; codecs: readonly string[] },
): Warning {
  const message = `${was.codec} in ${was.container} cannot be written, so the output has ${is.codecs[0] ?? ""} in ${is.container}.`
  return { code: "format_changed", message }
}

function labelOf(order: number, count: number): string {
  return count === 1 ? "The sound" : `Audio stream ${order + 1} of ${count}`
}

function figure(value: number | null): string {
  return value === null ? "none" : value.toFixed(1)
}

const MEASURE_SHARE = { from: 0, to: 0.3 }

/**
 * Probes the input of the task. Returns a failure if the input is not readable media or has no
 * audio.
 */
async function readInput(
  context: RunContext,
  name: string,
): Promise<NormalizationSource | TaskFailure> {
  const probed = await probeSingleInput(context, name)
  if (!("probe" in probed)) {
    return createCallerFailure("invalid_input", explainUnreadableFile(probed), probed.lines)
  }
  const source = readNormalizationSource(probed.probe, name)
  if (source.audio.length > 0) return source
  if (source.others.some(({ type }) => type === "audio")) {
    return createCallerFailure("invalid_input", "The audio of the input cannot be decoded.")
  }
  return createNoAudioFailure()
}

/** Measures the loudness of all audio streams of the input. */
async function measureInput(
  context: RunContext,
  clock: RunClock,
  name: string,
  { audio, format }: NormalizationSource,
): Promise<LoudnessMeasurement | TaskFailure> {
  const streams = audio.map((stream) => ({
    specifier: String(stream.index),
    rate: stream.rate,
    filters: channelLayoutFilters(stream),
  }))
  const measurement = await measureStreamLoudness(context, clock, {
    name,
    streams,
    ...MEASURE_SHARE,
  })
  if (!("failure" in measurement) || !format.startsWith("mov,")) return measurement
  const { isEncrypted } = await readMovieHeader(buildWorkspacePath(context.workspace, name))
  return isEncrypted ? encryptedAudioFailure(measurement.failure.lines) : measurement
}
