import { lstat } from "node:fs/promises"
import mime from "mime"
import type { OutputReport } from "../src/contract/report.ts"
import type { TaskOutput } from "../src/contract/task.ts"
import { mapAtOnce } from "./at-once.ts"
import type { Explained } from "./explain.ts"
import type { Run } from "./run.ts"
import { probeFile } from "./tools/ffprobe.ts"
import { uploadOutput } from "./transfer.ts"
import { pathIn } from "./workspace.ts"

type ProbeFacts = Pick<OutputReport, "probe" | "probe_error">

/** The failure of the first output that is not there as a plain file with something in it. */
export async function findOutputFailure(
  run: Run,
  outputs: readonly TaskOutput[],
): Promise<Explained | null> {
  for (const { key, name } of outputs) {
    const lack = await findLack(pathIn(run.workspace, name))
    if (lack === null) continue
    const message = `The output ${key} ("${name}") ${lack}.`
    return { blame: "caller", failure: { code: "no_output", message, lines: [] } }
  }
  return null
}

/** Uploads an output while ffprobe looks at it; one that cannot be probed is stored all the same. */
export async function storeOutput(run: Run, { key, name }: TaskOutput): Promise<OutputReport> {
  const path = pathIn(run.workspace, name)
  const contentType = mime.getType(name) ?? "application/octet-stream"
  const partBytes = run.settings.outputPartBytes
  let probed: ProbeFacts = {}
  const steps = [
    (signal: AbortSignal) =>
      uploadOutput({ io: run.io, signal }, { key, path, contentType, partBytes }),
    async (signal: AbortSignal) => {
      probed = await probeOutput({ ...run, signal }, name)
    },
  ]
  await mapAtOnce(steps, { limit: steps.length, signal: run.signal }, (step, joint) => step(joint))
  const { size } = await lstat(path)
  return { key, size_bytes: size, content_type: contentType, ...probed }
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
