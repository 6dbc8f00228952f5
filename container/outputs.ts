import { lstat } from "node:fs/promises"
import mime from "mime"
import { bundleKindOf } from "../src/contract/bundle.ts"
import type { Member } from "../src/contract/bundle.ts"
import type { OutputReport } from "../src/contract/report.ts"
import type { TaskOutput } from "../src/contract/task.ts"
import { mapAtOnce } from "./at-once.ts"
import type { BundleFiles } from "./bundles.ts"
import type { Explained } from "./explain.ts"
import type { Run } from "./run.ts"
import { probeFile } from "./tools/ffprobe.ts"
import { uploadMember, uploadOutput, uploadText } from "./transfer.ts"
import { pathIn } from "./workspace.ts"

const MEMBERS_AT_ONCE = 8
const NOTHING_ENCODED = /Output file is empty, nothing was encoded/

type ProbeFacts = Pick<OutputReport, "probe" | "probe_error">

/**
 * The failure of the first output that is not there as a plain file with something in it; a series
 * is no file of its own. `lines` is what the last command said.
 */
export async function findOutputFailure(
  run: Run,
  outputs: readonly TaskOutput[],
  lines: string[],
): Promise<Explained | null> {
  const isNothing = lines.some((line) => NOTHING_ENCODED.test(line))
  const why = isNothing ? ": nothing was encoded; check -ss, -t and -frames" : ""
  for (const { key, name } of outputs) {
    if (bundleKindOf(name) === "series") continue
    const lack = await findLack(pathIn(run.workspace, name))
    if (lack === null) continue
    const message = `The output ${key} ("${name}") ${lack}${why}.`
    return { blame: "caller", failure: { code: "no_output", message, lines } }
  }
  return null
}

/** Uploads an output while ffprobe looks at it; one that cannot be probed is stored all the same. */
export async function storeOutput(run: Run, { key, name }: TaskOutput): Promise<OutputReport> {
  const path = pathIn(run.workspace, name)
  const contentType = typeOf(name)
  const partBytes = run.settings.outputPartBytes
  const place = `/outputs/${key}`
  let probed: ProbeFacts = {}
  const steps = [
    (signal: AbortSignal) =>
      uploadOutput({ io: run.io, signal }, { place, path, contentType, partBytes }),
    async (signal: AbortSignal) => {
      probed = await probeOutput({ ...run, signal }, name)
    },
  ]
  await mapAtOnce(steps, { limit: steps.length, signal: run.signal }, (step, joint) => step(joint))
  const { size } = await lstat(path)
  return { key, size_bytes: size, content_type: contentType, ...probed }
}

/** Uploads the files of a bundle, several at a time, and then the list of them. */
export async function storeBundle(
  run: Run,
  { key, name }: TaskOutput,
  { names, durationSeconds }: BundleFiles,
): Promise<OutputReport> {
  const { io, signal } = run
  const place = `/outputs/${key}`
  const pace = { limit: MEMBERS_AT_ONCE, signal }
  const members = await mapAtOnce(names, pace, (each, joint) =>
    storeMember({ ...run, signal: joint }, place, each),
  )
  const text = JSON.stringify({ members })
  await uploadText({ io, signal }, { place, text, contentType: "application/json" })
  return {
    key,
    size_bytes: members.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
    content_type: bundleKindOf(name) === "series" ? "application/zip" : typeOf(name),
    members,
    ...(durationSeconds !== null && { duration_seconds: durationSeconds }),
  }
}

async function storeMember(run: Run, place: string, name: string): Promise<Member> {
  const contentType = typeOf(name)
  const { sizeBytes, crc } = await uploadMember(run, {
    place: `${place}/members/${encodeURIComponent(name)}`,
    path: pathIn(run.workspace, name),
    contentType,
    partBytes: run.settings.outputPartBytes,
  })
  return { name, size_bytes: sizeBytes, content_type: contentType, crc32: crc }
}

function typeOf(name: string): string {
  return mime.getType(name) ?? "application/octet-stream"
}

async function probeOutput(
  { settings, jail, workspace, signal }: Run,
  name: string,
): Promise<ProbeFacts> {
  const probed = await probeFile({ tool: settings.ffprobePath, jail, workspace, name, signal })
  return "probe" in probed ? { probe: probed.probe } : { probe_error: probed.reason }
}

async function findLack(path: string): Promise<string | null> {
  const facts = await lstat(path).catch(() => null)
  if (!facts) return "was not made"
  if (!facts.isFile() || facts.nlink !== 1) return "is not a plain file"
  return facts.size === 0 ? "is empty" : null
}
