import { lstatSync } from "node:fs"
import type { Stats } from "node:fs"
import { mediaTypeConverter } from "../../tools/media-types.ts"
import { findBundleKind } from "../../../src/contract/bundle.ts"
import type { BundleMember } from "../../../src/contract/bundle.ts"
import { REPORT_PROBES_BYTES_MAX } from "../../../src/contract/report.ts"
import type { OutputReport } from "../../../src/contract/report.ts"
import type { TaskOutput } from "../../../src/contract/task.ts"
import type { TaskFailure } from "../../task-failure.ts"
import { isToolFileSafeToOpen, buildWorkspacePath } from "../../sandbox/workspace.ts"
import { probeFile } from "../../tools/ffmpeg/probe-file.ts"
import { shortenProbeResult } from "../../tools/ffmpeg/shorten-probe.ts"
import { UNKNOWN_MEDIA_CONTENT } from "../../tools/ffmpeg/media-content.ts"
import type { MediaContent } from "../../tools/ffmpeg/media-content.ts"
import type { FinishedFfmpegRun } from "../../tools/ffmpeg/run-ffmpeg.ts"
import { mapWithConcurrency } from "../../transfer/concurrency-and-retry.ts"
import {
  uploadBundleMember,
  uploadOutputFile,
  uploadTextOutput,
} from "../../transfer/upload-outputs.ts"
import { isTextOutput, emptyOutputFailure } from "./empty-output.ts"
import type { BundleFiles } from "./assign-bundle-files.ts"
import type { RunContext } from "../run-context.ts"

const OUTPUTS_AT_ONCE = 2
const MEMBERS_AT_ONCE = 8

type Probing = { fields: Pick<OutputReport, "probe" | "probe_error">; content: MediaContent }

/** Report about a stored output, and the media content that ffprobe found in the output. */
export type StoredOutput = { report: OutputReport; content: MediaContent }

/**
 * Returns the failure for the first output that is not a regular file, or is an empty file although
 * it should contain media. Returns null if there is no such output. Skips numbered series, since
 * the output's name is then only a pattern of file names. `runs` are the finished runs of ffmpeg.
 */
export function findMissingOutputFailure(
  workspace: string,
  outputs: readonly TaskOutput[],
  runs: readonly FinishedFfmpegRun[],
): TaskFailure | null {
  for (const output of outputs) {
    if (findBundleKind(output) === "series") continue
    const problem = findFileProblem(
      buildWorkspacePath(workspace, output.name),
      isTextOutput(output, runs),
    )
    if (problem !== null) return emptyOutputFailure(output, problem, runs)
  }
  return null
}

function findFileProblem(path: string, mayBeEmpty: boolean): string | null {
  const stats = statsOf(path)
  if (!stats) return "was not made"
  if (!isToolFileSafeToOpen(stats)) return "is not a plain file that can be read"
  return stats.size === 0 && !mayBeEmpty ? "is empty" : null
}

function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch {
    return null
  }
}

/**
 * Stores the outputs of a task, several outputs at the same time. `bundles` contains the files of
 * each output of several files (bundle) by output key; all other outputs are single files.
 */
export async function storeOutputs(
  context: RunContext,
  outputs: readonly TaskOutput[],
  bundles: ReadonlyMap<string, BundleFiles>,
): Promise<StoredOutput[]> {
  const options = { limit: OUTPUTS_AT_ONCE, signal: context.signal }
  const stored = await mapWithConcurrency(outputs, options, (output, joint) => {
    const files = bundles.get(output.key)
    const part = { ...context, signal: joint }
    return files ? storeBundle(part, output, files) : storeOutput(part, output)
  })
  const probeBytesMax = Math.floor(REPORT_PROBES_BYTES_MAX / stored.length)
  return stored.map(({ report: { probe, ...report }, content }) => ({
    report: probe ? { ...report, probe: shortenProbeResult(probe, probeBytesMax) } : report,
    content,
  }))
}

/**
 * Uploads and probes a single-file output at the same time. A failed probe does not fail the
 * output.
 */
async function storeOutput(context: RunContext, { key, name }: TaskOutput): Promise<StoredOutput> {
  const { io, settings, workspace } = context
  const path = buildWorkspacePath(workspace, name)
  const contentType = typeOf(name)
  const file = { ioPath: `/outputs/${key}`, path, contentType, partBytes: settings.outputPartBytes }
  let probed: Probing = { fields: {}, content: UNKNOWN_MEDIA_CONTENT }
  let uploaded: Pick<OutputReport, "sha256"> = {}
  const steps = [
    async (signal: AbortSignal) => {
      uploaded = await uploadOutputFile({ io, signal }, file)
    },
    async (signal: AbortSignal) => {
      probed = await probeOutput({ ...context, signal }, name)
    },
  ]
  const options = { limit: steps.length, signal: context.signal }
  await mapWithConcurrency(steps, options, (step, joint) => step(joint))
  const { size } = lstatSync(path)
  const { fields, content } = probed
  const stored = { key, size_bytes: size, content_type: contentType, ...uploaded }
  return { report: { ...stored, ...fields }, content }
}

/**
 * Uploads the members of a bundle, several members at the same time, and then the list of members.
 */
async function storeBundle(
  context: RunContext,
  output: TaskOutput,
  { names, playlist, durationSeconds }: BundleFiles,
): Promise<StoredOutput> {
  const { key, name } = output
  const { io, signal } = context
  const ioPath = `/outputs/${key}`
  const options = { limit: MEMBERS_AT_ONCE, signal }
  const members = await mapWithConcurrency(names, options, (each, joint) =>
    storeMember({ ...context, signal: joint }, ioPath, each),
  )
  const text = JSON.stringify({ members })
  await uploadTextOutput({ io, signal }, { ioPath, text, contentType: "application/json" })
  const report = {
    key,
    size_bytes: members.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
    content_type: findBundleKind(output) === "series" ? "application/zip" : typeOf(name),
    members,
    ...(playlist !== null && { playlist }),
    ...(durationSeconds !== null && { duration_seconds: durationSeconds }),
  }
  return { report, content: UNKNOWN_MEDIA_CONTENT }
}

async function storeMember(
  context: RunContext,
  ioPath: string,
  name: string,
): Promise<BundleMember> {
  const contentType = typeOf(name)
  const { sizeBytes, crc } = await uploadBundleMember(context, {
    ioPath: `${ioPath}/members/${encodeURIComponent(name)}`,
    path: buildWorkspacePath(context.workspace, name),
    contentType,
    partBytes: context.settings.outputPartBytes,
  })
  return { name, size_bytes: sizeBytes, content_type: contentType, crc32: crc }
}

function typeOf(name: string): string {
  return mediaTypeConverter.getType(name) ?? "application/octet-stream"
}

async function probeOutput(context: RunContext, name: string): Promise<Probing> {
  const { settings, taskSandbox, workspace, signal } = context
  const tool = settings.toolPaths.ffprobe
  const request = { tool, taskSandbox, workspace, name, signal, readsPackets: true }
  const probed = await probeFile(request)
  const fields = "probe" in probed ? { probe: probed.probe } : { probe_error: probed.reason }
  return { fields, content: probed.content }
}
