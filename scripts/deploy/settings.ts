import { z } from "zod"
import { pickVariables } from "../local/environment.ts"
import { warningsOfUnknown } from "../local/unknown-settings.ts"
import { FETCHABLE_MODELS } from "../../container/models/manifest.ts"
import { didYouMean } from "../../src/hints/nearest-name.ts"
import { problemsOfSecrets, secretNames, settings } from "../../src/settings.ts"

const NAME_CHARACTERS_MAX = 40

/** A variable of the deployed Worker that names the settings which override wrangler.toml's. */
const GIVEN = "LATHE_GIVEN"

/** The Worker's own settings, without the secrets and without those of a local runner. */
const serviceSettings = settings.omit({
  LATHE_SECRET: true,
  OPERATOR_TOKEN: true,
  RUNNER_ORIGIN: true,
  RUNNER_TOKEN: true,
  ANNOUNCE_TOKEN: true,
  RUNNER_CAPACITY: true,
  IO_ORIGIN: true,
  DISK_RESERVE_BYTES: true,
})

/** Settings of the deployment: variables of the Worker that only the next deployment reads. */
const deploymentSettings = z.object({
  /** Host name of a zone in the account; the service answers there and not on workers.dev. */
  LATHE_DOMAIN: z.string().regex(/^([a-z0-9-]+\.)+[a-z]{2,}$/, "expected a host name"),
  /** Whether Cloudflare keeps replicas of the databases near callers; it does by default. */
  D1_REPLICAS: z.enum(["auto", "disabled"], "expected auto or disabled"),
})

const shape = { ...serviceSettings.shape, ...deploymentSettings.shape }
const settingNames = z.object(shape).keyof().options

const deploymentName = z
  .string()
  .max(NAME_CHARACTERS_MAX)
  .regex(/^[a-z]([a-z0-9-]*[a-z0-9])?$/, "expected small letters, digits and dashes")

/** Cloudflare takes no longer value of a secret. */
const SECRET_BYTES_MAX = 5 * 1024

/** Settings of one machine whose names begin as those of fetches do. */
const OF_ONE_MACHINE = ["FETCH_PYTHON_PATH"]
/** A name that looks like one of these settings, and that nothing else has a use for. */
const GUESSED_NAME = /^(?:(?:FETCH|YTDLP|YT_DLP)_|S3_SOURCE)/

/** Variables of a deployed Worker, by name. */
export type WorkerVariables = Record<string, z.core.util.JSONType>

export type Wanted = {
  /** Name of the Worker, and prefix of the names of all other resources. */
  name: string
  /** Settings that the environment sets. */
  values: Record<string, string>
  /** Settings that are empty in the environment, which resets them to their defaults. */
  dropped: string[]
  /** Secrets that the operator sets; they stand in no configuration and no output. */
  secrets: Record<string, string>
  /** Those that are empty in the environment, which removes them. */
  droppedSecrets: string[]
  /** What is wrong with them, a sentence each. */
  problems: string[]
}

/** Reads the name and the settings of a deployment from the environment. */
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
  const droppedSecrets = secretNames.filter((secret) => environment[secret] === "")
  const givenSecrets = secretNames.filter((secret) => environment[secret] !== "")
  const secrets = pickVariables(environment, givenSecrets)
  problems.push(...problemsOfSecrets(environment), ...tooLong(secrets))
  problems.push(...problemsOfNames(environment))
  problems.push(...problemsOfModels(values))
  return { name, values, dropped, secrets, droppedSecrets, problems }
}

/**
 * The settings to deploy: the environment's override those that an operator set on the deployed
 * Worker, which override wrangler.toml's. A deployed value that came from wrangler.toml is not
 * kept, so that a newer clone can change it.
 */
export function mergeSettings(
  wanted: Wanted,
  deployed: WorkerVariables,
  fromClone: WorkerVariables,
): WorkerVariables {
  const given = givenNames(deployed)
  const kept = Object.entries(deployed).filter(
    ([name]) => name !== GIVEN && (!(name in fromClone) || given.includes(name)),
  )
  const merged: WorkerVariables = { ...Object.fromEntries(kept), ...wanted.values }
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

/**
 * Names of the settings that a deployment keeps (see `mergeSettings`), and that wrangler.toml has with
 * another value, by chance with the same one, or not at all.
 */
export function settingsBeyond(fromClone: WorkerVariables, vars: WorkerVariables): string[] {
  const differing = Object.keys(vars).filter(
    (name) => name !== GIVEN && JSON.stringify(vars[name]) !== JSON.stringify(fromClone[name]),
  )
  return [...new Set([...differing, ...givenNames(vars)])].toSorted()
}

/**
 * Sentences on variables of the environment and of wrangler.toml that look like settings and are none, but
 * for those that are problems.
 */
export function warningsOfDeployment(
  environment: NodeJS.ProcessEnv,
  fromClone: WorkerVariables,
): string[] {
  const others = Object.entries({ ...fromClone, ...environment }).filter(
    ([name]) => !GUESSED_NAME.test(name),
  )
  return warningsOfUnknown(Object.fromEntries(others)).map((one) => `Warning: ${one}`)
}

/** The deployed values of the settings that an operator can set, as one line. */
export function describeSettings(values: WorkerVariables): string {
  const lines = settingNames.flatMap((name) => {
    const { [name]: value } = values
    if (value === undefined) return []
    return [`${name}=${typeof value === "string" ? value : JSON.stringify(value)}`]
  })
  return lines.length > 0 ? lines.join(" ") : "every default"
}

function tooLong(secrets: Record<string, string>): string[] {
  return Object.entries(secrets).flatMap(([name, value]) => {
    const bytes = Buffer.byteLength(value)
    if (bytes <= SECRET_BYTES_MAX) return []
    return [`${name} has ${bytes} bytes, and Cloudflare takes ${SECRET_BYTES_MAX} of a secret.`]
  })
}

/** A container has only the models that its image was built with. */
function problemsOfModels(values: Record<string, string>): string[] {
  return ["WHISPER_MODEL", "WHISPER_MODELS"].flatMap((setting) => {
    const names = (values[setting] ?? "").split(",").flatMap((text) => text.trim() || [])
    const unknown = names.filter((name) => !FETCHABLE_MODELS.includes(name))
    return unknown.map(
      (name) =>
        `${setting} has "${name}", and the image of the runners can have ${FETCHABLE_MODELS.join(" and ")} alone.`,
    )
  })
}

/** A setting that is not there may be one that was mistyped. */
function problemsOfNames(environment: NodeJS.ProcessEnv): string[] {
  const known = [...settingNames, ...secretNames, ...OF_ONE_MACHINE]
  return Object.keys(environment)
    .filter((name) => GUESSED_NAME.test(name) && !known.some((each) => each === name))
    .map((name) => {
      return `${name} is no setting${didYouMean(name, known, (meant) => meant) || ";"} docs/operate/settings.md has all settings.`
    })
}

function givenNames(deployed: WorkerVariables): string[] {
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
