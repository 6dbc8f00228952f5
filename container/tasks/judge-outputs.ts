import { readCommand } from "../../src/contract/command-line.ts"
import type { TaskInput, TaskOutput } from "../../src/contract/task.ts"
import { WARNINGS_MAX } from "../../src/contract/warning.ts"
import type { Warning } from "../../src/contract/warning.ts"
import type { TaskFailure } from "../failures.ts"
import { damageWarning, isDamage } from "../tools/damage.ts"
import { cleanLines } from "../tools/explain.ts"
import type { FinishedRun } from "../tools/run-ffmpeg.ts"
import type { RunNotes } from "../tools/run-notes.ts"
import { isCopiedFromBehind, isText, noOutput, runOf } from "./empty-output.ts"
import { findShortfall } from "./expected-length.ts"
import type { StoredOutput } from "./outputs.ts"
import type { RunContext } from "./run-context.ts"

const NOTHING = "holds no picture and no sound"
const NOT_ASKED_FOR = "holds nothing of what was asked for"
/** Lengths of the packets of a transport stream, without and with what recorders add. */
const TRANSPORT_PACKET_BYTES = [188, 192, 204]
/** Containers in which every stream that a command mapped can be found again. */
const CONTAINERS = /^(?:mov|matroska|avi|mpegts|flv|asf|nut|ogg)(?:,|$)/

/** The failure of the first output that was to hold a picture or sound and holds none, or what is odd. */
export async function judgeOutputs(
  context: RunContext,
  made: readonly { output: TaskOutput; stored: StoredOutput }[],
  runs: readonly FinishedRun[],
): Promise<TaskFailure | Warning[]> {
  const warnings = runs.flatMap((run) => findDamage(context, run))
  for (const { output, stored } of made) {
    if (isText(output, runs)) continue
    const run = runOf(output, runs)
    if (isEmpty(stored, run)) return noOutput(output, NOTHING, runs)
    if (!run) continue
    if (isCopiedFromBehind(output, run)) return noOutput(output, NOT_ASKED_FOR, runs)
    const label = `The output ${output.key} ("${output.name}")`
    warnings.push(...findEmptyStreams(label, output, stored, run))
    const { probe } = stored.report
    const short = probe && (await findShortfall(context, run, { label, name: output.name, probe }))
    if (short) warnings.push(short)
  }
  const unique = new Map(warnings.map((each) => [each.message, each]))
  return [...unique.values()].slice(0, WARNINGS_MAX)
}

/** The failure of a bundle that `isBundleEmpty` found to hold nothing. */
export function emptyBundle(output: TaskOutput, runs: readonly FinishedRun[]): TaskFailure {
  return noOutput(output, NOTHING, runs)
}

function isEmpty({ report, content }: StoredOutput, run: FinishedRun | null): boolean {
  if (report.members) return false
  if (content.isEmpty !== null) return content.isEmpty
  const noted = run?.notes.outputs
  if (report.probe) return content.covers > 0 && noted !== undefined && noted.size > 0
  // What ffprobe cannot read was written all the same, where ffmpeg says so.
  return noted?.size === 1 && run?.notes.hasWritten === false
}

const KINDS = [
  { type: "video", what: "picture" },
  { type: "audio", what: "sound" },
] as const

/** The warning of an output that lacks a picture or a sound which its command mapped to it. */
function findEmptyStreams(
  label: string,
  { name }: TaskOutput,
  { report, content }: StoredOutput,
  run: FinishedRun,
): Warning[] {
  const noted = run.notes.outputs.get(name)
  if (!noted || content.isEmpty !== false) return []
  if (!CONTAINERS.test(report.probe?.format_name ?? "")) return []
  const written = run.notes.written(noted.index)
  return KINDS.flatMap(({ type, what }) => {
    const mapped = noted[type]
    const isNoneWritten = written !== null && written[type] === 0
    const found = content.streams.filter(
      (each) => each.type === type && (each.isFilled ?? !isNoneWritten),
    ).length
    if (found >= mapped) return []
    const streams = mapped === 1 ? `a ${what} stream` : `${mapped} ${what} streams`
    const missing = found === 0 ? "it has none" : `it has ${found}`
    const message = `${label} was to have ${streams}, and ${missing} that holds anything: check what the command maps and its filters let through.`
    return [{ code: "empty_stream" as const, message }]
  })
}

/** The warnings of inputs of which ffmpeg said that they are damaged, or that end within a packet. */
export function findDamage(
  { order, workspace }: RunContext,
  { argv, notes }: FinishedRun,
): Warning[] {
  const names = [...new Set(inputWords(argv))]
  const cut = order.inputs.filter((input) => endsWithinPacket(input, notes.inputs.get(input.name)))
  // The seams of transport streams that are joined byte by byte look like damage.
  const isJoined = notes.isJoined || names.some((name) => name.startsWith("concat:"))
  const formats = inputWords(argv).map((name) => formatOf(name, notes, order.inputs))
  const damage = notes.damage.filter(
    (each) => isDamage(each, formats) && !(isJoined && each.kind === "packet"),
  )
  const [line] = cleanLines(damage.map((each) => each.line).join("\n"), workspace)
  const [only = null] = names.length === 1 ? names : names.filter((name) => line?.includes(name))
  return [
    ...(line === undefined ? [] : [damageWarning(only, line)]),
    ...cut
      .filter(({ name }) => line === undefined || name !== only)
      .map(({ name }) => damageWarning(name, "it ends within a packet")),
  ]
}

/** The format of an input, as ffmpeg says or its name ends; a list may name any file of the task. */
function formatOf(name: string, { inputs }: RunNotes, files: readonly TaskInput[]): string {
  const format = inputs.get(name)?.format
  if (format === "concat") return [format, ...files.map((file) => endOf(file.name))].join(",")
  return format ?? endOf(name)
}

function endOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1).toLowerCase()
}

function inputWords(argv: readonly string[]): string[] {
  const inputs = readCommand(argv).files.filter(({ kind }) => kind === "input")
  return inputs.map(({ word }) => word)
}

function endsWithinPacket({ size_bytes: bytes }: TaskInput, noted?: { format: string }): boolean {
  return noted?.format === "mpegts" && TRANSPORT_PACKET_BYTES.every((length) => bytes % length > 0)
}
