import { UNAVAILABLE } from "../../src/contract/runner-health.ts"
import { runnerSandbox } from "../sandbox/sandbox.ts"
import type { Grants, Sandbox } from "../sandbox/sandbox.ts"
import { startProcess } from "../sandbox/start.ts"
import type { ToolName } from "../../src/contract/tasks/definition.ts"
import type { RunnerSettings } from "../settings.ts"
import { TASK_TOOLS } from "../tasks/registry.ts"
import { findYtdlp, pythonArgv } from "../tools/ytdlp/environment.ts"

const VERSION_MS_MAX = 10_000

type VersionCommand = Pick<Grants, "read"> & { tool: string; argv: string[] }

/**
 * The version of each tool by its name, but whisper, of which there is more to say; null: there is no
 * sandbox that it could be asked in.
 */
export async function readToolVersions(
  settings: RunnerSettings,
  sandbox: Sandbox | null,
): Promise<Record<string, string>> {
  const tools = TASK_TOOLS.filter((tool) => tool !== "whisper")
  const versions = tools.map(async (tool) => {
    const command = commandOf(settings, tool)
    if (!sandbox || !command) return [tool, UNAVAILABLE] as const
    return [tool, await readVersion(sandbox, command)] as const
  })
  return Object.fromEntries(await Promise.all(versions))
}

function commandOf(
  settings: RunnerSettings,
  tool: Exclude<ToolName, "whisper">,
): VersionCommand | null {
  return tool === "yt-dlp" ? ytdlpCommand(settings) : ownCommand(settings, tool)
}

function ownCommand({ toolPaths }: RunnerSettings, tool: "ffmpeg" | "ffprobe"): VersionCommand {
  return { tool: toolPaths[tool], argv: ["-version"] }
}

function ytdlpCommand(settings: RunnerSettings): VersionCommand | null {
  const ytdlp = findYtdlp(settings)
  if (!ytdlp) return null
  const { python, packages, read } = ytdlp
  return { tool: python, argv: [...pythonArgv("version.py"), ...packages], read }
}

/** The version that a tool prints, or "unavailable". */
async function readVersion(sandbox: Sandbox, command: VersionCommand): Promise<string> {
  const line = await readVersionLine(sandbox, command)
  return /^\S+ version (\S+)/.exec(line)?.[1] ?? UNAVAILABLE
}

/** What a tool prints that is asked for its version. */
export async function readVersionLine(sandbox: Sandbox, command: VersionCommand): Promise<string> {
  const end = await startProcess({
    ...command,
    taskSandbox: runnerSandbox(sandbox),
    cwd: "/",
    access: "none",
    timeLimitMs: VERSION_MS_MAX,
    stdoutBytesMax: 4096,
    signal: new AbortController().signal,
  }).finished
  return end.stdout
}
