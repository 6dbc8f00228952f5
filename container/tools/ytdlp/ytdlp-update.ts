import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import pRetry from "p-retry"
import type { YtdlpHealth } from "../../../src/contract/runner-health.ts"
import { log } from "../../log.ts"
import type { RunnerSettings } from "../../settings.ts"
import { installYtdlp, readInstalledYtdlpVersion, removeYtdlpVersions } from "./install-ytdlp.ts"
import type { YtdlpInstallOptions } from "./install-ytdlp.ts"

/**
 * Maximum time that a task waits for the first installation, in milliseconds. After this time, the
 * task uses the built-in version of yt-dlp.
 */
const WAIT_MS_MAX = 15_000
const RETRY_MS_MIN = 60_000
const RETRY_MS_MAX = 3_600_000

/**
 * Installation of the version that YTDLP_VERSION names, in addition to the built-in version of
 * yt-dlp.
 */
export type YtdlpUpdate = {
  /** Returns the folder of the installed version; null if the built-in version is in use. */
  folder(): string | null
  /** Resolves after the first attempt to install the version, or after WAIT_MS_MAX. */
  ready(): Promise<void>
  /**
   * Returns the installed version of yt-dlp and the error of the last installation, for the
   * runner's health; null if YTDLP_VERSION is not set.
   */
  health(): YtdlpHealth | null
}

/**
 * State of the installation if YTDLP_VERSION is not set, so that the built-in version of yt-dlp is
 * in use.
 */
const NO_YTDLP_UPDATE: YtdlpUpdate = {
  folder: () => null,
  ready: () => Promise.resolve(),
  health: () => null,
}

let update = NO_YTDLP_UPDATE

/** Starts to install the version of yt-dlp in the settings, for all tasks of this process. */
export function installYtdlpUpdate(settings: RunnerSettings): void {
  update = startYtdlpUpdate(settings, process.env, new AbortController().signal)
}

/**
 * Returns the folder of the installed version of yt-dlp, which must be the first package folder of
 * Python; null if the built-in version is in use.
 */
export function findYtdlpUpdateFolder(): string | null {
  return update.folder()
}

/**
 * Resolves after the first attempt to install a version of yt-dlp. Resolves at once if the settings
 * name no version.
 */
export async function waitForYtdlpInstallation(): Promise<void> {
  await update.ready()
}

/**
 * Returns the state of the installation for the health of the runner; null if YTDLP_VERSION is not
 * set.
 */
export function getYtdlpUpdateHealth(): YtdlpHealth | null {
  return update.health()
}

/**
 * Installs the configured version of yt-dlp in the background, with retries and backoff. The
 * built-in version is used meanwhile.
 */
export function startYtdlpUpdate(
  settings: Pick<RunnerSettings, "toolPaths" | "workDir" | "ytdlpVersion">,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): YtdlpUpdate {
  const { toolPaths, workDir, ytdlpVersion: wanted } = settings
  const root = join(workDir, "yt-dlp")
  if (wanted === null || "problem" in wanted) {
    void removeYtdlpVersions(root)
    return wanted === null ? NO_YTDLP_UPDATE : invalidUpdate(wanted.problem)
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

/**
 * Returns the folder of the configured version of yt-dlp, and installs the version if necessary.
 * Returns null if the configured version equals the built-in version.
 */
async function findOrInstall(options: YtdlpInstallOptions): Promise<string | null> {
  const builtIn = await readInstalledYtdlpVersion(options.python).catch(() => null)
  return builtIn === options.wanted.version ? null : await installYtdlp(options)
}

/**
 * Returns the installation state for an invalid YTDLP_VERSION. The built-in version is used, and
 * the health of the runner reports the problem.
 */
function invalidUpdate(problem: string): YtdlpUpdate {
  log("error", "ytdlp.update_failed", { error: problem })
  return { ...NO_YTDLP_UPDATE, health: () => ({ version: null, state: "failed", problem }) }
}
