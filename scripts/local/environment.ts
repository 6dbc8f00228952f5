/** Those variables of an environment that have these names. */
export function pickVariables(
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
 * What programs need to run, where tools are that someone has elsewhere than set-up puts them,
 * what they know, and whose users they have, which services of one machine do not share.
 */
export const TOOL_VARIABLES = [
  "PATH",
  "HOME",
  "TMPDIR",
  "FFMPEG_PATH",
  "FFPROBE_PATH",
  "FETCH_FFMPEG_PATH",
  "FFMPEG_FACTS",
  "SPEECH_PYTHON_PATH",
  "SPEECH_MODELS_PATH",
  "SANDBOX_FIRST_UID",
]

/** The variables of this process that a child needs to run, without settings of the service. */
export function toolEnvironment(): Record<string, string> {
  return pickVariables(process.env, TOOL_VARIABLES)
}
