import { lstat } from "node:fs/promises"
import mime from "mime"
import { bundleKindOf } from "../../src/contract/bundle.ts"
import type { Member } from "../../src/contract/bundle.ts"
import type { OutputReport } from "../../src/contract/report.ts"
import type { TaskOutput } from "../../src/contract/task.ts"
import { callerFailure } from "../failures.ts"
import type { TaskFailure } from "../failures.ts"
import { isPlainFile, pathIn } from "../sandbox/workspace.ts"
import { probeFile } from "../tools/ffprobe.ts"
import { mapWithConcurrency } from "../transfer/promises.ts"
import { uploadMember, uploadOutput, uploadText } from "../transfer/upload.ts"
import type { BundleFiles } from "./gather-bundles.ts"
import type { RunContext } from "./run-context.ts"

const NOTHING_ENCODED = /Output file is empty, nothing was encoded/
const OUTPUTS_AT_ONCE = 2
const MEMBERS_AT_ONCE = 8

type ProbeFields = Pick<OutputReport, "probe" | "probe_error">

/**
 * The failure of the first output that is no regular file or is empty; a series is not checked,
 * since it has no file of its own. `warnings` are the lines that the last command printed.
 */
export async function findOutputFailure(
  workspace: string,
  outputs: readonly TaskOutput[],
  warnings: string[],
): Promise<TaskFailure | null> {
  const isNothingEncoded = warnings.some((line) => NOTHING_ENCODED.test(line))
  const why = isNothingEncoded ? ": nothing was encoded; check -ss, -t and -frames" : ""
  for (const { key, name } of outputs) {
    if (bundleKindOf(name) === "series") continue
    const problem = await findFileProblem(pathIn(workspace, name))
    if (problem === null) continue
    return callerFailure("no_output", `The output ${key} ("${name}") ${problem}${why}.`, warnings)
  }
  return null
}

async function findFileProblem(path: string): Promise<string | null> {
  const stats = await lstat(path).catch(() => null)
  if (!stats) return "was not made"
  if (!isPlainFile(stats)) return "is not a plain file that can be read"
  return stats.size === 0 ? "is empty" : null
}

/** Stores the outputs of a task, several at a time: `bundles` by their key, and plain files. */
export async function storeOutputs(
  context: RunContext,
  outputs: readonly TaskOutput[],
  bundles: ReadonlyMap<string, BundleFiles>,
): Promise<OutputReport[]> {
  const options = { limit: OUTPUTS_AT_ONCE, signal: context.signal }
  return await mapWithConcurrency(outputs, options, (output, joint) => {
    const files = bundles.get(output.key)
    const part = { ...context, signal: joint }
    return files ? storeBundle(part, output, files) : storeOutput(part, output)
  })
}

/** Uploads an output and probes it at the same time; a failed probe does not fail the output. */
async function storeOutput(context: RunContext, { key, name }: TaskOutput): Promise<OutputReport> {
  const { io, settings, workspace } = context
  const path = pathIn(workspace, name)
  const contentType = typeOf(name)
  const file = { ioPath: `/outputs/${key}`, path, contentType, partBytes: settings.outputPartBytes }
  let probed: ProbeFields = {}
  const steps = [
    (signal: AbortSignal) => uploadOutput({ io, signal }, file),
    async (signal: AbortSignal) => {
      probed = await probeOutput({ ...context, signal }, name)
    },
  ]
  const options = { limit: steps.length, signal: context.signal }
  await mapWithConcurrency(steps, options, (step, joint) => step(joint))
  const { size } = await lstat(path)
  return { key, size_bytes: size, content_type: contentType, ...probed }
}

/** Uploads the members of a bundle, several at a time, and then the list of them. */
async function storeBundle(
  context: RunContext,
  { key, name }: TaskOutput,
  { names, durationSeconds }: BundleFiles,
): Promise<OutputReport> {
  const { io, signal } = context
  const ioPath = `/outputs/${key}`
  const options = { limit: MEMBERS_AT_ONCE, signal }
  const members = await mapWithConcurrency(names, options, (each, joint) =>
    storeMember({ ...context, signal: joint }, ioPath, each),
  )
  const text = JSON.stringify({ members })
  await uploadText({ io, signal }, { ioPath, text, contentType: "application/json" })
  return {
    key,
    size_bytes: members.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
    content_type: bundleKindOf(name) === "series" ? "application/zip" : typeOf(name),
    members,
    ...(durationSeconds !== null && { duration_seconds: durationSeconds }),
  }
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
  return mime.getType(name) ?? "application/octet-stream"
}

async function probeOutput(context: RunContext, name: string): Promise<ProbeFields> {
  const { settings, taskSandbox, workspace, signal } = context
  const tool = settings.toolPaths.ffprobe
  const probed = await probeFile({ tool, taskSandbox, workspace, name, signal })
  return "probe" in probed ? { probe: probed.probe } : { probe_error: probed.reason }
}
