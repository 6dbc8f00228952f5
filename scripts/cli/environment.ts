/** Returns the values of the named environment variables, without variables that are not set. */
export function pickEnvironmentVariables(
  environment: NodeJS.ProcessEnv,
  names: readonly string[],
): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = environment[name]
    if (value !== undefined) picked[name] = value
  }
  return picked
}

/**
 * Names of environment variables that child processes need: the search path, paths of tools,
 * ffmpeg's capabilities, and the first user id of sandboxed tools.
 */
export const CHILD_PROCESS_VARIABLES = (
  "PATH HOME TMPDIR FFMPEG_PATH FFPROBE_PATH FETCH_FFMPEG_PATH " +
  "FFMPEG_FACTS SPEECH_PYTHON_PATH SPEECH_MODELS_PATH SANDBOX_FIRST_UID"
).split(" ")

/**
 * Returns this process's environment variables that a child process needs, without settings of the
 * service.
 */
export function makeChildEnvironment(): Record<string, string> {
  return pickEnvironmentVariables(process.env, CHILD_PROCESS_VARIABLES)
}
