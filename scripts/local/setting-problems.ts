import { problemsOfSecrets, settings } from "../../src/settings.ts"

/** Settings that nobody but the service sees. */
const SECRET = /_(?:SECRET|TOKEN)$/

/**
 * What is wrong with the settings of an environment: a sentence of each with the value that it has,
 * but for secrets; empty where all can be used.
 */
export function problemsOfSettings(environment: Record<string, string | undefined>): string[] {
  const names = new Set<string>()
  const problems = settings.safeParse(environment).error?.issues.flatMap(({ path, message }) => {
    const name = String(path[0])
    if (names.has(name)) return []
    names.add(name)
    const value = environment[name]
    const isShown = value !== undefined && !SECRET.test(name)
    return [`${name}${isShown ? ` is ${JSON.stringify(value)}` : ""}: ${message}.`]
  })
  return [...(problems ?? []), ...problemsOfSecrets(environment)]
}
