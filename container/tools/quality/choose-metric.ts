import type { Sandbox } from "../../sandbox/sandbox.ts"
import { runnerSandbox } from "../../sandbox/sandbox.ts"
import { startProcess } from "../../sandbox/start.ts"
import type { QualityMetric } from "./metrics.ts"

const LIST_MS_MAX = 10_000
const LIST_BYTES_MAX = 1024 * 1024

/** By the path of ffmpeg. */
const metrics = new Map<string, QualityMetric>()

/** VMAF where a build of ffmpeg has it, else SSIM, which all have; a build is asked once. */
export async function chooseMetric(sandbox: Sandbox, ffmpeg: string): Promise<QualityMetric> {
  const known = metrics.get(ffmpeg)
  if (known) return known
  const end = await startProcess({
    tool: ffmpeg,
    argv: ["-hide_banner", "-filters"],
    taskSandbox: runnerSandbox(sandbox),
    cwd: "/",
    access: "none",
    timeLimitMs: LIST_MS_MAX,
    stdoutBytesMax: LIST_BYTES_MAX,
    signal: new AbortController().signal,
  }).finished
  const metric = /^ *\S+ +libvmaf +VV->V/m.test(end.stdout) ? "vmaf" : "ssim"
  if (end.exitCode === 0) metrics.set(ffmpeg, metric)
  return metric
}
