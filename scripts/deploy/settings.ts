import { z } from "zod"
import { pickEnvironmentVariables } from "../cli/environment.ts"
import { findUnknownSettingWarnings } from "../start/unknown-settings.ts"
import { FETCHABLE_SPEECH_MODELS } from "../../container/models/manifest.ts"
import { makeDidYouMeanClause } from "../../src/hints/nearest-name.ts"
import { describeInvalidSecrets, secretNames, settingsSchema } from "../../src/bindings/settings.ts"

const NAME_CHARACTERS_MAX = 40

/**
 * Name of the deployed Worker's variable that lists the settings an operator has set. The listed
 * settings override wrangler.toml in later deployments.
 */
const GIVEN = "LATHE_GIVEN"

/**
 * Settings of the Worker, without secrets and without settings that apply only to a runner on one
 * machine, without containers.
 */
const serviceSettings = settingsSchema.omit({
  LATHE_SECRET: true,
  OPERATOR_TOKEN: true,
  RUNNER_ORIGIN: true,
  RUNNER_TOKEN: true,
  ANNOUNCE_TOKEN: true,
  RUNNER_CAPACITY: true,
  IO_ORIGIN: true,
  DISK_RESERVE_BYTES: true,
})

/** Settings of the deployment itself: variables of the Worker that only later deployments read. */
const deploymentSettings = z.object({
  /** Host name of a zone in the account, at which the service responds instead of workers.dev. */
  LATHE_DOMAIN: z.string().regex(/^([a-z0-9-]+\.)+[a-z]{2,}$/, "expected a host name"),
  /** Whether Cloudflare keeps replicas of the databases near callers; `auto` by default. */
  D1_REPLICAS: z.enum(["auto", "disabled"], "expected auto or disabled"),
})

const shape = { ...serviceSettings.shape, ...deploymentSettings.shape }
const settingNames = z.object(shape).keyof().options

const deploymentName = z
  .string()
  .max(NAME_CHARACTERS_MAX)
  .regex(/^[a-z]([a-z0-9-]*[a-z0-9])?$/, "expected small letters, digits and dashes")

/** Maximum size of a secret on Cloudflare. */
const SECRET_BYTES_MAX = 5 * 1024

/**
 * Settings that match `GUESSED_NAME` and are valid only for a service on one machine. The
 * deployment does not report them as mistyped.
 */
const OF_ONE_MACHINE = ["FETCH_PYTHON_PATH"]
/**
 * Pattern of the names of settings for fetches and S3 sources. No other program uses such names, so
 * that an unknown one is a mistake.
 */
const GUESSED_NAME = /^(?:(?:FETCH|YTDLP|YT_DLP)_|S3_SOURCE)/

/** Variables of a deployed Worker, by name. */
export type WorkerVariables = Record<string, z.core.util.JSONType>

export type DeploymentSettings = {
  /** Name of the Worker, and prefix of the names of all other resources. */
  name: string
  /** Settings that the environment sets. */
  values: Record<string, string>
  /**
   * Settings that are empty in the environment, so that the deployment resets them to their
   * defaults.
   */
  dropped: string[]
  /** Secrets that the environment sets. No configuration file and no output contains them. */
  secrets: Record<string, string>
  /** Names of secrets that are empty in the environment, so that the deployment removes them. */
  droppedSecrets: string[]
  /** Errors of the settings, one sentence each. */
  problems: string[]
}

/** Reads the name and the settings of a deployment from the environment. */
export function readDeploymentSettings(environment: NodeJS.ProcessEnv): DeploymentSettings {
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
  const secrets = pickEnvironmentVariables(environment, givenSecrets)
  problems.push(...describeInvalidSecrets(environment), ...tooLong(secrets))
  problems.push(...problemsOfNames(environment))
  problems.push(...problemsOfModels(values))
  return { name, values, dropped, secrets, droppedSecrets, problems }
}

/**
 * Merges the settings to deploy. The environment overrides settings that an operator set on the
 * deployed Worker, and those override wrangler.toml. Ignores a deployed value that came from
 * wrangler.toml, so that a newer wrangler.toml can change the value.
 */
export function mergeDeploymentSettings(
  settings: DeploymentSettings,
  deployed: WorkerVariables,
  fromClone: WorkerVariables,
): WorkerVariables {
  const presentNames = givenNames(deployed)
  const kept = Object.entries(deployed).filter(
    ([name]) => name !== GIVEN && (!(name in fromClone) || presentNames.includes(name)),
  )
  const merged: WorkerVariables = { ...Object.fromEntries(kept), ...settings.values }
  for (const name of settings.dropped) delete merged[name]
  const wasOfDomain = deployed["PUBLIC_ORIGIN"] === originOf(deployed["LATHE_DOMAIN"])
  if (settings.values["PUBLIC_ORIGIN"] === undefined && wasOfDomain) delete merged["PUBLIC_ORIGIN"]
  const origin = originOf(merged["LATHE_DOMAIN"])
  if (origin !== undefined) merged["PUBLIC_ORIGIN"] ??= origin
  const overridden = Object.keys(merged).filter((name) => name in fromClone)
  if (overridden.length > 0) merged[GIVEN] = overridden.toSorted().join(",")
  const all = Object.entries({ ...fromClone, ...merged })
  return Object.fromEntries(all.toSorted(([one], [other]) => one.localeCompare(other)))
}

/**
 * Returns the names of deployed settings that differ from wrangler.toml, and of settings that an
 * operator set, even to the same value.
 */
export function listChangedDeploymentSettings(
  fromClone: WorkerVariables,
  vars: WorkerVariables,
): string[] {
  const differing = Object.keys(vars).filter(
    (name) => name !== GIVEN && JSON.stringify(vars[name]) !== JSON.stringify(fromClone[name]),
  )
  return [...new Set([...differing, ...givenNames(vars)])].toSorted()
}

/**
 * Returns a warning for each variable of the environment or wrangler.toml that looks like a setting
 * and is none. Leaves out names that `readDeploymentSettings` reports as problems.
 */
export function findDeploymentSettingWarnings(
  environment: NodeJS.ProcessEnv,
  fromClone: WorkerVariables,
): string[] {
  const others = Object.entries({ ...fromClone, ...environment }).filter(
    ([name]) => !GUESSED_NAME.test(name),
  )
  return findUnknownSettingWarnings(Object.fromEntries(others)).map((one) => `Warning: ${one}`)
}

/** Formats the values of the settings that an operator can set on one line. */
export function describeDeploymentSettings(values: WorkerVariables): string {
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
    return [
      `${name} has ${bytes} bytes, and Cloudflare accepts at most ${SECRET_BYTES_MAX} for a secret.`,
    ]
  })
}

/**
 * Returns an error sentence for each configured speech model that the runners' image cannot
 * contain.
 */
function problemsOfModels(values: Record<string, string>): string[] {
  return ["WHISPER_MODEL", "WHISPER_MODELS"].flatMap((setting) => {
    const names = (values[setting] ?? "").split(",").flatMap((text) => text.trim() || [])
    const unknown = names.filter((name) => !FETCHABLE_SPEECH_MODELS.includes(name))
    return unknown.map(
      (name) =>
        `${setting} has "${name}", and the image of the runners supports only ${FETCHABLE_SPEECH_MODELS.join(" and ")}.`,
    )
  })
}

/**
 * Returns an error sentence for each unknown environment variable that looks like a mistyped
 * setting.
 */
function problemsOfNames(environment: NodeJS.ProcessEnv): string[] {
  const known = [...settingNames, ...secretNames, ...OF_ONE_MACHINE]
  return Object.keys(environment)
    .filter((name) => GUESSED_NAME.test(name) && !known.some((each) => each === name))
    .map((name) => {
      return `${name} is no setting${makeDidYouMeanClause(name, known, (meant) => meant) || ";"} docs/operate/settings.md has all settings.`
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
