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

/** The variables of this process that a child needs to run, without settings of the service. */
export function toolEnvironment(): Record<string, string> {
  return pickVariables(process.env, ["PATH", "HOME", "TMPDIR", "FFMPEG_PATH", "FFPROBE_PATH"])
}
