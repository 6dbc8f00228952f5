import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import pRetry from "p-retry"
import type { YtdlpHealth } from "../../../src/contract/runner-health.ts"
import { log } from "../../log.ts"
import type { RunnerSettings } from "../../settings.ts"
import { installYtdlp, readInstalledVersion, removeYtdlp } from "./install.ts"
import type { InstallOptions } from "./install.ts"

/** How long what comes before the wanted version is there waits for it; then the built-in one serves. */
const WAIT_MS_MAX = 15_000
const RETRY_MS_MIN = 60_000
const RETRY_MS_MAX = 3_600_000

/** The version that YTDLP_VERSION names, beside the built-in one. */
export type YtdlpUpdate = {
  /** The folder of the version, once it is installed; null: the built-in one is to be used. */
  folder(): string | null
  /** Resolves once the first try to install it is over, or has taken long. */
  ready(): Promise<void>
  /** How it stands with the version; null where none is asked for. */
  health(): YtdlpHealth | null
}

/** No version but the built-in one. */
const NO_UPDATE: YtdlpUpdate = {
  folder: () => null,
  ready: () => Promise.resolve(),
  health: () => null,
}

let update = NO_UPDATE

/** Has this process use the version that its settings name, from when that is installed. */
export function useYtdlpVersion(settings: RunnerSettings): void {
  update = startYtdlpUpdate(settings, process.env, new AbortController().signal)
}

/** The folder that Python is to look into first for yt-dlp; null: the built-in one is to be used. */
export function ytdlpFolder(): string | null {
  return update.folder()
}

/** Resolves when `ytdlpFolder` is worth asking: at once, but in the first seconds of a new version. */
export async function ytdlpReady(): Promise<void> {
  await update.ready()
}

/** How it stands with the version that YTDLP_VERSION names; null where none is asked for. */
export function ytdlpHealth(): YtdlpHealth | null {
  return update.health()
}

/**
 * Installs the wanted version in the background. What fails is tried again ever later, and the
 * built-in version serves meanwhile.
 */
export function startYtdlpUpdate(
  settings: Pick<RunnerSettings, "toolPaths" | "workDir" | "ytdlpVersion">,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): YtdlpUpdate {
  const { toolPaths, workDir, ytdlpVersion: wanted } = settings
  const root = join(workDir, "yt-dlp")
  if (wanted === null || "problem" in wanted) {
    void removeYtdlp(root)
    return wanted === null ? NO_UPDATE : refusedUpdate(wanted.problem)
  }
  const { version } = wanted
  const state: { folder: string | null; health: YtdlpHealth } = {
    folder: null,
    health: { version, state: "installing", problem: null },
  }
  const options = { python: toolPaths["yt-dlp"], root, wanted, environment, signal }
  const firstTry = Promise.withResolvers<void>()
  async function install(): Promise<void> {
    try {
      state.folder = await findOrInstall(options)
      state.health = { version, state: "installed", problem: null }
      log("info", "ytdlp.updated", { version, built_in: state.folder === null })
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      state.health = { version, state: "failed", problem }
      log("error", "ytdlp.update_failed", { version, error: problem })
      throw error
    } finally {
      firstTry.resolve()
    }
  }
  const delays = { minTimeout: RETRY_MS_MIN, maxTimeout: RETRY_MS_MAX, unref: true }
  void pRetry(install, { ...delays, retries: Infinity, signal }).catch(() => undefined)
  return {
    folder: () => state.folder,
    ready: () => Promise.race([firstTry.promise, sleep(WAIT_MS_MAX, undefined, { ref: false })]),
    health: () => state.health,
  }
}

/** The folder of a version; null where Python has that version already. */
async function findOrInstall(options: InstallOptions): Promise<string | null> {
  const builtIn = await readInstalledVersion(options.python).catch(() => null)
  return builtIn === options.wanted.version ? null : await installYtdlp(options)
}

/** The setting cannot be read: the built-in version serves, and the health says why. */
function refusedUpdate(problem: string): YtdlpUpdate {
  log("error", "ytdlp.update_failed", { error: problem })
  return { ...NO_UPDATE, health: () => ({ version: null, state: "failed", problem }) }
}
