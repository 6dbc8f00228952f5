import type { LatestChoice } from "../sandbox/keep-choosing.ts"
import type { RunnerSettings } from "../settings.ts"
import { ytdlpFolder, ytdlpHealth } from "../tools/ytdlp/version.ts"
import type { Runs } from "./runs.ts"
import { readToolVersions } from "./tool-versions.ts"

/**
 * The handler of `GET /health`; it asks the tools for their versions at the first request that
 * finds a sandbox, and again when there is another yt-dlp.
 */
export function healthHandler(
  runs: Runs,
  settings: RunnerSettings,
  latestChoice: LatestChoice,
): () => Promise<Response> {
  const { boot, capacity } = settings
  let asked: { folder: string | null; versions: Promise<Record<string, string>> } | null = null
  return async () => {
    const choice = await latestChoice()
    const folder = ytdlpFolder()
    if (choice.sandbox && asked?.folder !== folder) {
      asked = { folder, versions: readToolVersions(settings, choice.sandbox) }
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
}
