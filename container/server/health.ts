import { UNAVAILABLE } from "../../src/contract/runner-health.ts"
import type { LatestChoice } from "../sandbox/keep-choosing.ts"
import type { RunnerSettings } from "../settings.ts"
import { ytdlpFolder, ytdlpHealth } from "../tools/ytdlp/version.ts"
import type { Runs } from "./runs.ts"
import { readToolVersions } from "./tool-versions.ts"

/** A tool that did not say its version is asked again after so long. */
const UNAVAILABLE_MS = 30_000

/** Versions of the tools, as they were asked for. */
type Asked = { folder: string | null; versions: Promise<Record<string, string>> }

/**
 * The handler of `GET /health`; it asks the tools for their versions at the first request that
 * finds a sandbox, and again when there is another yt-dlp, or one did not answer.
 */
export function healthHandler(
  runs: Runs,
  settings: RunnerSettings,
  latestChoice: LatestChoice,
): () => Promise<Response> {
  const { boot, capacity } = settings
  let asked: Asked | null = null
  return async () => {
    const choice = await latestChoice()
    const folder = ytdlpFolder()
    if (choice.sandbox && asked?.folder !== folder) {
      asked = { folder, versions: readToolVersions(settings, choice.sandbox) }
      void forgetIncomplete(asked)
    }
    return Response.json({
      status: choice.sandbox ? "ok" : "degraded",
      boot,
      capacity,
      running: runs.countRunning(),
      ...(await (asked?.versions ?? readToolVersions(settings, null))),
      sandbox: choice.test,
      ytdlp_update: ytdlpHealth(),
    })
  }

  /** A tool that was only too slow, or came later, is not missing forever. */
  async function forgetIncomplete(read: Asked): Promise<void> {
    if (!Object.values(await read.versions).includes(UNAVAILABLE)) return
    setTimeout(() => {
      if (asked === read) asked = null
    }, UNAVAILABLE_MS).unref()
  }
}
