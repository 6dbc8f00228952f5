import type { SandboxChoice } from "../sandbox/choose.ts"
import type { LatestChoice } from "../sandbox/keep-choosing.ts"
import { runnerSandbox } from "../sandbox/sandbox.ts"
import type { TaskSandbox } from "../sandbox/sandbox.ts"
import { startProcess } from "../sandbox/start.ts"
import type { RunnerSettings } from "../settings.ts"
import { TASK_TOOLS } from "../tasks/registry.ts"
import { ytdlpHealth } from "../tools/ytdlp/version.ts"
import type { Runs } from "./runs.ts"

const VERSION_MS_MAX = 10_000

/**
 * The handler of `GET /health`; it asks the tools for their versions at the first request that
 * finds a sandbox.
 */
export function healthHandler(
  runs: Runs,
  settings: RunnerSettings,
  latestChoice: LatestChoice,
): () => Promise<Response> {
  const { boot, capacity } = settings
  let versions: Promise<Record<string, string>> | null = null
  return async () => {
    const choice = await latestChoice()
    if (choice.sandbox) versions ??= readVersions(settings, choice)
    return Response.json({
      status: choice.sandbox ? "ok" : "degraded",
      boot,
      capacity,
      running: runs.countRunning(),
      ...(await (versions ?? readVersions(settings, choice))),
      sandbox: choice.test,
      ytdlp_update: ytdlpHealth(),
    })
  }
}

/** The version of each tool by its name. */
async function readVersions(
  { toolPaths }: RunnerSettings,
  { sandbox }: SandboxChoice,
): Promise<Record<string, string>> {
  const versions = TASK_TOOLS.map(async (tool) => {
    if (!sandbox) return [tool, "unavailable"] as const
    return [tool, await readVersion(toolPaths[tool], runnerSandbox(sandbox))] as const
  })
  return Object.fromEntries(await Promise.all(versions))
}

/** The version that a tool prints, or "unavailable". */
async function readVersion(tool: string, taskSandbox: TaskSandbox): Promise<string> {
  const end = await startProcess({
    tool,
    argv: ["-version"],
    taskSandbox,
    cwd: "/",
    access: "none",
    timeLimitMs: VERSION_MS_MAX,
    stdoutBytesMax: 4096,
    signal: new AbortController().signal,
  }).finished
  return /^\S+ version (\S+)/.exec(end.stdout)?.[1] ?? "unavailable"
}
