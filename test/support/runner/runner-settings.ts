import { toRunnerSettings, parseRunnerEnvironment } from "../../../container/settings.ts"
import type { RunnerSettings } from "../../../container/settings.ts"
import { pickVariables } from "../../../scripts/cli/environment.ts"

const SHARED = ["SANDBOX_FIRST_UID", "FFMPEG_PATH", "FFPROBE_PATH", "FETCH_FFMPEG_PATH"]

/** A runner's settings by these variables, with the tools and user ids of this process of tests. */
export function runnerSettings(variables: NodeJS.ProcessEnv = {}): RunnerSettings {
  return toRunnerSettings(
    parseRunnerEnvironment({ ...pickVariables(process.env, SHARED), ...variables }),
  )
}
