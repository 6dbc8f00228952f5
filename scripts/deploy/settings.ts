import { z } from "zod"
import { settings } from "../../src/settings.ts"

const INSTANCE_TYPES = [
  "lite",
  "basic",
  "standard-1",
  "standard-2",
  "standard-3",
  "standard-4",
] as const
const NAME_CHARACTERS_MAX = 40

/** Names of the settings that replace some of wrangler.toml's; the Worker keeps it like a setting. */
const GIVEN = "LATHE_GIVEN"

const count = z.coerce.number().int().positive()

/** The Worker's own settings; not the secrets, nor what only a runner on one machine needs. */
const serviceSettings = settings.omit({
  LATHE_SECRET: true,
  OPERATOR_TOKEN: true,
  RUNNER_ORIGIN: true,
  RUNNER_TOKEN: true,
  RUNNER_CAPACITY: true,
  IO_ORIGIN: true,
})

/** Settings of the deployment itself, which its Worker keeps for the next run and never reads. */
const deploymentSettings = z.object({
  /** Host name of a zone in the account; the service answers there and not on workers.dev. */
  LATHE_DOMAIN: z.string().regex(/^([a-z0-9-]+\.)+[a-z]{2,}$/, "expected a host name"),
  RUNNER_INSTANCE_TYPE: z.enum(INSTANCE_TYPES),
  FETCH_INSTANCES: count,
  FETCH_INSTANCE_TYPE: z.enum(INSTANCE_TYPES),
})

const shape = { ...serviceSettings.shape, ...deploymentSettings.shape }
const settingNames = z.object(shape).keyof().options

const deploymentName = z
  .string()
  .max(NAME_CHARACTERS_MAX)
  .regex(/^[a-z]([a-z0-9-]*[a-z0-9])?$/, "expected small letters, digits and dashes")

export type Settings = Record<string, z.core.util.JSONType>

export type Wanted = {
  /** Name of the Worker and first part of the names of everything else. */
  name: string
  /** Settings that the environment gives. */
  values: Record<string, string>
  /** Settings that the environment takes back, by being empty. */
  dropped: string[]
  /** What is wrong with them, a sentence each. */
  problems: string[]
}

/** What the environment says of a deployment. */
export function readWanted(environment: NodeJS.ProcessEnv): Wanted {
  const name = environment["LATHE_NAME"] ?? "lathe"
  const values: Record<string, string> = {}
  const dropped: string[] = []
  const problems = problemsOf("LATHE_NAME", deploymentName, name)
  for (const setting of settingNames) {
    const value = environment[setting]
    if (value === "") dropped.push(setting)
    if (!value) continue
    values[setting] = value
    problems.push(...problemsOf(setting, shape[setting], value))
  }
  return { name, values, dropped, problems }
}

/**
 * The settings to deploy: those wanted, over those that the deployed Worker was given, over the
 * clone's own. A setting that only came from a clone is not kept, so that a newer clone can change it.
 */
export function mergeSettings(wanted: Wanted, deployed: Settings, fromClone: Settings): Settings {
  const given = givenNames(deployed)
  const kept = Object.entries(deployed).filter(
    ([name]) => name !== GIVEN && (!(name in fromClone) || given.includes(name)),
  )
  const merged: Settings = { ...Object.fromEntries(kept), ...wanted.values }
  for (const name of wanted.dropped) delete merged[name]
  const wasOfDomain = deployed["PUBLIC_ORIGIN"] === originOf(deployed["LATHE_DOMAIN"])
  if (wanted.values["PUBLIC_ORIGIN"] === undefined && wasOfDomain) delete merged["PUBLIC_ORIGIN"]
  const origin = originOf(merged["LATHE_DOMAIN"])
  if (origin !== undefined) merged["PUBLIC_ORIGIN"] ??= origin
  const overridden = Object.keys(merged).filter((name) => name in fromClone)
  if (overridden.length > 0) merged[GIVEN] = overridden.toSorted().join(",")
  const all = Object.entries({ ...fromClone, ...merged })
  return Object.fromEntries(all.toSorted(([one], [other]) => one.localeCompare(other)))
}

/** The settings that an operator can set, as they are deployed, for a person. */
export function describeSettings(values: Settings): string {
  const lines = settingNames.flatMap((name) => {
    const { [name]: value } = values
    if (value === undefined) return []
    return [`${name}=${typeof value === "string" ? value : JSON.stringify(value)}`]
  })
  return lines.length > 0 ? lines.join(" ") : "every default"
}

function givenNames(deployed: Settings): string[] {
  const { [GIVEN]: names } = deployed
  return typeof names === "string" ? names.split(",") : []
}

function originOf(domain: unknown): string | undefined {
  return typeof domain === "string" ? `https://${domain}` : undefined
}

function problemsOf(name: string, schema: z.ZodType, value: string): string[] {
  const { error } = schema.safeParse(value)
  if (!error) return []
  return [`${name} is "${value}": ${error.issues[0]?.message ?? "not valid"}.`]
}
