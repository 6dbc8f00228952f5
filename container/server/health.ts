import { UNAVAILABLE } from "../../src/contract/runner-health.ts"
import { describeKernel } from "../sandbox/choose.ts"
import type { SandboxChoice } from "../sandbox/choose.ts"
import type { LatestChoice } from "../sandbox/keep-choosing.ts"
import type { Sandbox } from "../sandbox/sandbox.ts"
import type { SelfTest } from "../sandbox/self-test.ts"
import { testTier } from "../sandbox/test-tier.ts"
import type { RunnerSettings } from "../settings.ts"
import { ytdlpFolder, ytdlpHealth } from "../tools/ytdlp/version.ts"
import type { Runs } from "./runs.ts"
import { readSpeechHealth } from "./speech-health.ts"
import { readToolVersions } from "./tool-versions.ts"

/** A tool that did not say its version is asked again after so long. */
const UNAVAILABLE_MS = 30_000

/** What there is to say of the tools, as they were asked for it. */
type Asked = { folder: string | null; tools: Promise<Record<string, unknown>> }

/** The test of a sandbox by all attacks. */
type Attacked = { sandbox: Sandbox; test: Promise<SelfTest> }

/**
 * The handler of `GET /health`; it asks the tools for their versions at the first request that
 * finds a sandbox, and again when there is another yt-dlp, or one did not answer. With `?attacks=all`
 * the first request that finds a sandbox tries all attacks on it, and the answer has their outcome.
 */
export function healthHandler(
  runs: Runs,
  settings: RunnerSettings,
  latestChoice: LatestChoice,
): (request: Request) => Promise<Response> {
  const { boot, capacity } = settings
  const kernel = describeKernel(settings)
  let asked: Asked | null = null
  let attacked: Attacked | null = null
  return async (request) => {
    const choice = await latestChoice()
    const folder = ytdlpFolder()
    if (choice.sandbox && asked?.folder !== folder) {
      asked = { folder, tools: readTools(choice.sandbox) }
      void forgetIncomplete(asked)
    }
    return Response.json({
      status: choice.sandbox ? "ok" : "degraded",
      boot,
      capacity,
      running: runs.countRunning(),
      ...(await (asked?.tools ?? readTools(null))),
      kernel: await kernel,
      sandbox: triesAll(request) ? await attack(choice) : choice.test,
      ytdlp_update: ytdlpHealth(),
    })
  }

  async function attack({ sandbox, test }: SandboxChoice): Promise<SelfTest> {
    if (sandbox === null || sandbox.tier === "none") return test
    if (attacked?.sandbox !== sandbox) {
      attacked = { sandbox, test: testTier(sandbox, settings, "all") }
    }
    return { ...(await attacked.test), loss: test.loss }
  }

  async function readTools(sandbox: Sandbox | null) {
    const versions = readToolVersions(settings, sandbox)
    const speech = readSpeechHealth(settings, sandbox)
    return { ...(await versions), ...(await speech) }
  }

  /** A tool that was only too slow, or came later, is not missing forever. */
  async function forgetIncomplete(read: Asked): Promise<void> {
    if (!Object.values(await read.tools).includes(UNAVAILABLE)) return
    setTimeout(() => {
      if (asked === read) asked = null
    }, UNAVAILABLE_MS).unref()
  }
}

function triesAll({ url }: Request): boolean {
  return new URL(url).searchParams.get("attacks") === "all"
}
