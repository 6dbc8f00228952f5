import { toRunnerSettings, parseRunnerEnvironment } from "../../../container/settings.ts"
import type { RunnerSettings } from "../../../container/settings.ts"
import { pickEnvironmentVariables } from "../../../scripts/cli/environment.ts"

const SHARED = ["SANDBOX_FIRST_UID", "FFMPEG_PATH", "FFPROBE_PATH", "FETCH_FFMPEG_PATH"]

/**
 * Returns the settings of a runner from the given variables, and from the tools and user ids of
 * this test process.
 */
export function makeTestRunnerSettings(variables: NodeJS.ProcessEnv = {}): RunnerSettings {
  return toRunnerSettings(
    parseRunnerEnvironment({ ...pickEnvironmentVariables(process.env, SHARED), ...variables }),
  )
}
