import { makeSettings, readEnvironment } from "../../container/settings.ts"
import type { RunnerSettings } from "../../container/settings.ts"
import { pickVariables } from "../../scripts/local/environment.ts"

/** A runner's settings by these variables, with the user ids of this process of tests. */
export function runnerSettings(variables: NodeJS.ProcessEnv = {}): RunnerSettings {
  const users = pickVariables(process.env, ["SANDBOX_FIRST_UID"])
  return makeSettings(readEnvironment({ ...users, ...variables }))
}
