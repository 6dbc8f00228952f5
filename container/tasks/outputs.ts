import { lstatSync } from "node:fs"
import type { Stats } from "node:fs"
import { mediaTypes } from "../tools/media-types.ts"
import { bundleKindOf } from "../../src/contract/bundle.ts"
import type { Member } from "../../src/contract/bundle.ts"
import { PROBES_BYTES_MAX } from "../../src/contract/report.ts"
import type { OutputReport } from "../../src/contract/report.ts"
import type { TaskOutput } from "../../src/contract/task.ts"
import type { TaskFailure } from "../failures.ts"
import { isPlainFile, pathIn } from "../sandbox/workspace.ts"
import { probeFile } from "../tools/ffprobe.ts"
import { fitProbe } from "../tools/fit-probe.ts"
import { UNKNOWN_CONTENT } from "../tools/media-content.ts"
import type { MediaContent } from "../tools/media-content.ts"
import type { FinishedRun } from "../tools/run-ffmpeg.ts"
import { mapWithConcurrency } from "../transfer/promises.ts"
import { uploadMember, uploadOutput, uploadText } from "../transfer/upload.ts"
import { isText, noOutput } from "./empty-output.ts"
import type { BundleFiles } from "./gather-bundles.ts"
import type { RunContext } from "./run-context.ts"

const OUTPUTS_AT_ONCE = 2
const MEMBERS_AT_ONCE = 8

type Probing = { fields: Pick<OutputReport, "probe" | "probe_error">; content: MediaContent }

/** An output as it was stored, and what a look into it found. */
export type StoredOutput = { report: OutputReport; content: MediaContent }

/**
 * The failure of the first output that is no regular file, or is empty and no text; a series is
 * not checked, since it has no file of its own. `runs` are the commands that have run.
 */
export function findOutputFailure(
  workspace: string,
  outputs: readonly TaskOutput[],
  runs: readonly FinishedRun[],
): TaskFailure | null {
  for (const output of outputs) {
    if (bundleKindOf(output.name) === "series") continue
    const problem = findFileProblem(pathIn(workspace, output.name), isText(output, runs))
    if (problem !== null) return noOutput(output, problem, runs)
  }
  return null
}

function findFileProblem(path: string, mayBeEmpty: boolean): string | null {
  const stats = statsOf(path)
  if (!stats) return "was not made"
  if (!isPlainFile(stats)) return "is not a plain file that can be read"
  return stats.size === 0 && !mayBeEmpty ? "is empty" : null
}

function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch {
    return null
  }
}

/** Stores the outputs of a task, several at a time: `bundles` by their key, and plain files. */
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
  const probeBytesMax = Math.floor(PROBES_BYTES_MAX / stored.length)
  return stored.map(({ report: { probe, ...report }, content }) => ({
    report: probe ? { ...report, probe: fitProbe(probe, probeBytesMax) } : report,
    content,
  }))
}

/** Uploads an output and probes it at the same time; a failed probe does not fail the output. */
async function storeOutput(context: RunContext, { key, name }: TaskOutput): Promise<StoredOutput> {
  const { io, settings, workspace } = context
  const path = pathIn(workspace, name)
  const contentType = typeOf(name)
  const file = { ioPath: `/outputs/${key}`, path, contentType, partBytes: settings.outputPartBytes }
  let probed: Probing = { fields: {}, content: UNKNOWN_CONTENT }
  let uploaded: Pick<OutputReport, "sha256"> = {}
  const steps = [
    async (signal: AbortSignal) => {
      uploaded = await uploadOutput({ io, signal }, file)
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

/** Uploads the members of a bundle, several at a time, and then the list of them. */
async function storeBundle(
  context: RunContext,
  { key, name }: TaskOutput,
  { names, playlist, durationSeconds }: BundleFiles,
): Promise<StoredOutput> {
  const { io, signal } = context
  const ioPath = `/outputs/${key}`
  const options = { limit: MEMBERS_AT_ONCE, signal }
  const members = await mapWithConcurrency(names, options, (each, joint) =>
    storeMember({ ...context, signal: joint }, ioPath, each),
  )
  const text = JSON.stringify({ members })
  await uploadText({ io, signal }, { ioPath, text, contentType: "application/json" })
  const report = {
    key,
    size_bytes: members.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
    content_type: bundleKindOf(name) === "series" ? "application/zip" : typeOf(name),
    members,
    ...(playlist !== null && { playlist }),
    ...(durationSeconds !== null && { duration_seconds: durationSeconds }),
  }
  return { report, content: UNKNOWN_CONTENT }
}

async function storeMember(context: RunContext, ioPath: string, name: string): Promise<Member> {
  const contentType = typeOf(name)
  const { sizeBytes, crc } = await uploadMember(context, {
    ioPath: `${ioPath}/members/${encodeURIComponent(name)}`,
    path: pathIn(context.workspace, name),
    contentType,
    partBytes: context.settings.outputPartBytes,
  })
  return { name, size_bytes: sizeBytes, content_type: contentType, crc32: crc }
}

function typeOf(name: string): string {
  return mediaTypes.getType(name) ?? "application/octet-stream"
}

async function probeOutput(context: RunContext, name: string): Promise<Probing> {
  const { settings, taskSandbox, workspace, signal } = context
  const tool = settings.toolPaths.ffprobe
  const request = { tool, taskSandbox, workspace, name, signal, readsPackets: true }
  const probed = await probeFile(request)
  const fields = "probe" in probed ? { probe: probed.probe } : { probe_error: probed.reason }
  return { fields, content: probed.content }
}
