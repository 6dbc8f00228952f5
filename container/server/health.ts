import { TOOL_UNAVAILABLE } from "../../src/contract/runner-health.ts"
import type { RunnerHealth } from "../../src/contract/runner-health.ts"
import { probeKernelFeatures } from "../sandbox/tiers/choose-sandbox.ts"
import type { SandboxChoice } from "../sandbox/tiers/choose-sandbox.ts"
import type { SandboxChoiceGetter } from "../sandbox/tiers/retry-sandbox.ts"
import { createSandboxWithoutTask } from "../sandbox/sandbox.ts"
import type { ToolGrants, Sandbox } from "../sandbox/sandbox.ts"
import type { SandboxTestResult } from "../sandbox/tiers/self-test.ts"
import { testSandboxTier } from "../sandbox/tiers/test-tier.ts"
import type { RunnerSettings } from "../settings.ts"
import { findYtdlpUpdateFolder, getYtdlpUpdateHealth } from "../tools/ytdlp/ytdlp-update.ts"
import type { TaskRunManager } from "./task-runs.ts"
import { isEnglishOnlyModel } from "../../src/contract/speech-models.ts"
import { WHISPER_LANGUAGES } from "../../src/contract/whisper-languages.ts"
import {
  findSpeechModelFolder,
  findWhisperInstallation,
  whisperDriverArgv,
} from "../tools/whisper/whisper-environment.ts"
import { startToolProcess } from "../sandbox/start-process.ts"
import type { ToolName } from "../../src/contract/tasks/definition.ts"
import { TASK_TOOL_NAMES } from "../tasks/registry.ts"
import { findYtdlpInstallation, ytdlpDriverArgv } from "../tools/ytdlp/ytdlp-environment.ts"

/**
 * Delay, in milliseconds, after which the runner reads the versions of its tools again if a tool
 * reported no version.
 */
const UNAVAILABLE_MS = 30_000

/**
 * Versions of the tools that were read at one time. `folder` is the folder of the yt-dlp
 * installation that was in use at that time.
 */
type VersionReading = { folder: string | null; tools: Promise<Record<string, unknown>> }

/** Self-test that tries all attacks against a sandbox. `test` is pending while the test runs. */
type AttackTest = { sandbox: Sandbox; test: Promise<SandboxTestResult> }

/**
 * Returns the handler of `GET /health`. The first request after a sandbox was chosen reads the
 * versions of the tools. Later requests read the versions again if yt-dlp was updated or a tool
 * reported no version. The first request with `?attacks=all` tests the sandbox with all attacks,
 * and responses then contain the outcomes.
 */
export function createHealthHandler(
  runs: TaskRunManager,
  settings: RunnerSettings,
  latestChoice: SandboxChoiceGetter,
): (request: Request) => Promise<Response> {
  const { boot, capacity } = settings
  const kernel = probeKernelFeatures(settings)
  let reading: VersionReading | null = null
  let attackTest: AttackTest | null = null
  return async (request) => {
    const choice = await latestChoice()
    const folder = findYtdlpUpdateFolder()
    if (choice.sandbox && reading?.folder !== folder) {
      reading = { folder, tools: readTools(choice.sandbox) }
      void forgetIncomplete(reading)
    }
    return Response.json({
      status: choice.sandbox ? "ok" : "degraded",
      boot,
      capacity,
      running: runs.countRunning(),
      ...(await (reading?.tools ?? readTools(null))),
      kernel: await kernel,
      sandbox: wantsAllAttacks(request) ? await attack(choice) : choice.test,
      ytdlp_update: getYtdlpUpdateHealth(),
    })
  }

  async function attack({ sandbox, test }: SandboxChoice): Promise<SandboxTestResult> {
    if (sandbox === null || sandbox.tier === "none") return test
    if (attackTest?.sandbox !== sandbox) {
      attackTest = { sandbox, test: testSandboxTier(sandbox, settings, "all") }
    }
    return { ...(await attackTest.test), loss: test.loss }
  }

  async function readTools(sandbox: Sandbox | null) {
    const versions = readToolVersions(settings, sandbox)
    const speech = readSpeechHealth(settings, sandbox)
    return { ...(await versions), ...(await speech) }
  }

  /**
   * If the version of a tool is missing, discards all versions after a delay, so that the next
   * request reads them again. The tool may have been slow, or may be installed later.
   */
  async function forgetIncomplete(read: VersionReading): Promise<void> {
    if (!Object.values(await read.tools).includes(TOOL_UNAVAILABLE)) return
    setTimeout(() => {
      if (reading === read) reading = null
    }, UNAVAILABLE_MS).unref()
  }
}

function wantsAllAttacks({ url }: Request): boolean {
  return new URL(url).searchParams.get("attacks") === "all"
}

/**
 * Fields about transcription in the health of a runner. Without the default speech model, the
 * runner cannot transcribe.
 */
type SpeechHealth = Required<Pick<RunnerHealth, "whisper" | "speech" | "speech_problem">>

/**
 * Reads the version of faster-whisper, and checks which speech models are installed. Does not load
 * a model.
 */
async function readSpeechHealth(
  settings: RunnerSettings,
  sandbox: Sandbox | null,
): Promise<SpeechHealth> {
  const { names, default: first } = settings.speech.models
  const models = names.filter((name) => findSpeechModelFolder(settings, name) !== null)
  const version = sandbox && (await readEngineVersion(settings, sandbox))
  if (!version) return withoutSpeech(sandbox && "faster-whisper is not installed, or does not run")
  if (!models.includes(first)) return withoutSpeech(`the speech model "${first}" is missing`)
  const [ofWhisper, ofEngine] = version
  const languages = models.every(isEnglishOnlyModel) ? ["en"] : [...WHISPER_LANGUAGES]
  const engine = `faster-whisper ${ofWhisper} (ctranslate2 ${ofEngine})`
  return { whisper: ofWhisper, speech: { engine, models, languages }, speech_problem: null }
}

function withoutSpeech(problem: string | null): SpeechHealth {
  return { whisper: TOOL_UNAVAILABLE, speech: null, speech_problem: problem }
}

/**
 * Returns the versions of faster-whisper and of CTranslate2, its inference engine; null if
 * faster-whisper does not run.
 */
async function readEngineVersion(
  settings: RunnerSettings,
  sandbox: Sandbox,
): Promise<[string, string] | null> {
  const whisper = findWhisperInstallation(settings)
  if (!whisper) return null
  const { python: tool, packages, read } = whisper
  const command = { tool, argv: [...whisperDriverArgv("version.py"), ...packages], read }
  const line = await readVersionLine(sandbox, command)
  const [, ofWhisper, ofEngine] = /^\S+ version (\S+) ctranslate2 (\S+)/.exec(line) ?? []
  return ofWhisper === undefined || ofEngine === undefined ? null : [ofWhisper, ofEngine]
}

const VERSION_MS_MAX = 10_000

type VersionCommand = Pick<ToolGrants, "read"> & { tool: string; argv: string[] }

/**
 * Returns the version of each tool by the tool's name. Omits whisper, about which the health
 * contains more fields. Without a sandbox (null), the version of each tool is "unavailable".
 */
async function readToolVersions(
  settings: RunnerSettings,
  sandbox: Sandbox | null,
): Promise<Record<string, string>> {
  const tools = TASK_TOOL_NAMES.filter((tool) => tool !== "whisper")
  const versions = tools.map(async (tool) => {
    const command = commandOf(settings, tool)
    if (!sandbox || !command) return [tool, TOOL_UNAVAILABLE] as const
    return [tool, await readVersion(sandbox, command)] as const
  })
  return Object.fromEntries(await Promise.all(versions))
}

function commandOf(
  settings: RunnerSettings,
  tool: Exclude<ToolName, "whisper">,
): VersionCommand | null {
  return tool === "yt-dlp" ? ytdlpVersionCommand(settings) : ffmpegVersionCommand(settings, tool)
}

function ffmpegVersionCommand(
  { toolPaths }: RunnerSettings,
  tool: "ffmpeg" | "ffprobe",
): VersionCommand {
  return { tool: toolPaths[tool], argv: ["-version"] }
}

function ytdlpVersionCommand(settings: RunnerSettings): VersionCommand | null {
  const ytdlp = findYtdlpInstallation(settings)
  if (!ytdlp) return null
  const { python, packages, read } = ytdlp
  return { tool: python, argv: [...ytdlpDriverArgv("version.py"), ...packages], read }
}

/** Runs a command that prints the version of a tool. Returns the version, or "unavailable". */
async function readVersion(sandbox: Sandbox, command: VersionCommand): Promise<string> {
  const line = await readVersionLine(sandbox, command)
  return /^\S+ version (\S+)/.exec(line)?.[1] ?? TOOL_UNAVAILABLE
}

/**
 * Runs a command that prints the version of a tool, and returns the first line of the command's
 * output.
 */
async function readVersionLine(sandbox: Sandbox, command: VersionCommand): Promise<string> {
  const end = await startToolProcess({
    ...command,
    taskSandbox: createSandboxWithoutTask(sandbox),
    cwd: "/",
    access: "none",
    timeLimitMs: VERSION_MS_MAX,
    stdoutBytesMax: 4096,
    signal: new AbortController().signal,
  }).finished
  return end.stdout
}
