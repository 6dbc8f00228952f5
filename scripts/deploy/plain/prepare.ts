import { z } from "zod"
import { CliError } from "../../local/cli-error.ts"
import { readDeploymentRecord, writeDeploymentRecord } from "../../local/deployment-record.ts"
import { NO_ANALYTICS, hasAnalytics } from "../analytics.ts"
import { checkEverything } from "../checks.ts"
import type { Deployment } from "../checks.ts"
import { find } from "../cloudflare.ts"
import { deriveConfig, readConfigOfClone, writeConfig } from "../config.ts"
import type { Config } from "../config.ts"
import { migrate } from "../migrate.ts"
import { makeResources } from "../resources.ts"
import { planSecrets, withSecretsFile } from "../secrets.ts"
import { readWanted, settingsBeyond } from "../settings.ts"
import { runWranglerOrThrow } from "../wrangler.ts"

/**
 * Makes what `wrangler deploy` of wrangler.toml needs and does not make itself: storage, queues, a Worker
 * with the required secrets, migrated databases. A CliError where the deployment differs from the file.
 */
export async function prepare(environment: NodeJS.ProcessEnv, stateDir: string): Promise<void> {
  const source = readConfigOfClone()
  refuseOtherConfig(source)
  warnOfSettings(environment)
  const deployment = await checkEverything(environmentOf(environment, source), stateDir)
  refuseOtherSettings(deployment, source)
  await refuseLostDatabases(deployment)
  if (!(await hasAnalytics(deployment))) {
    throw new CliError(
      `Nothing was changed: ${NO_ANALYTICS}, and wrangler.toml has a dataset. Turn it on, or deploy with ` +
        "`npm run deploy`, which leaves the metrics out.",
    )
  }

  const { api, name, vars } = deployment
  const base = { name, vars, accountId: api.accountId }
  const { made, databaseIds } = await makeResources(api, deriveConfig(base))
  console.log(`Storage and queues: ${made.length > 0 ? `made ${made.join(", ")}` : "all there"}.`)
  const config = deriveConfig({ ...base, databaseIds })
  const configPath = writeConfig(stateDir, name, config)
  console.log(`Secrets: ${await sendSecrets(deployment, configPath)}.`)
  console.log(`Database: ${await migrate(config, configPath, ["--remote"])}.`)
  console.log(
    `wrangler deploys the rest. A key then: npm run keys -- create --account me --plan paid --remote ${deployment.origin}`,
  )
}

/** The account is chosen as wrangler chooses it; settings of the environment have no part in this. */
function environmentOf(
  { CLOUDFLARE_API_TOKEN: token, CLOUDFLARE_ACCOUNT_ID: chosen }: NodeJS.ProcessEnv,
  { account_id: accountId = chosen, name }: Config,
): NodeJS.ProcessEnv {
  return {
    CLOUDFLARE_API_TOKEN: token,
    CLOUDFLARE_ACCOUNT_ID: accountId,
    ...(name !== readWanted({}).name && { LATHE_NAME: name }),
  }
}

function warnOfSettings(environment: NodeJS.ProcessEnv): void {
  const { values, secrets } = readWanted(environment)
  const names = [...Object.keys(values), ...Object.keys(secrets)]
  if (environment["LATHE_NAME"] !== undefined) names.push("LATHE_NAME")
  if (names.length === 0) return
  console.error(
    `Warning: \`wrangler deploy\` does not read ${names.join(", ")} from the environment; \`npm run deploy\` does.`,
  )
}

/** wrangler would put the deployment back to the settings of the file, without a word. */
function refuseOtherSettings({ vars, name }: Deployment, { vars: ofFile }: Config): void {
  const names = settingsBeyond(ofFile, vars)
  if (names.length === 0) return
  throw new CliError(
    `Nothing was changed: "${name}" is deployed with settings that wrangler.toml lacks or has otherwise ` +
      `(${names.join(", ")}), and \`wrangler deploy\` would take them back. Deploy with \`npm run deploy\`, which keeps them.`,
  )
}

/** wrangler asks for the database that is bound, and fails without saying why where that is gone. */
async function refuseLostDatabases({ api, deployed }: Deployment): Promise<void> {
  for (const id of deployed?.databaseIds ?? []) {
    if (await find(api, z.unknown(), `/d1/database/${id}`)) continue
    throw new CliError(
      `Nothing was changed: the deployed Worker is bound to the D1 database ${id}, which is gone with all that ` +
        "was in it. `npm run deploy` makes an empty one and binds it.",
    )
  }
}

/** A setting may decide on more than its variable, and `npm run deploy` alone derives that. */
function refuseOtherConfig(source: Config): void {
  const derived = deriveConfig({ name: source.name, vars: source.vars })
  const differing = PARTS.filter(([, partOf]) => {
    return JSON.stringify(partOf(derived)) !== JSON.stringify(partOf(source))
  })
  if (differing.length === 0) return
  const parts = differing.map(([name]) => name).join(", ")
  throw new CliError(
    `Nothing was changed: [vars] and name of wrangler.toml do not fit its ${parts}. Take back the change of the file, ` +
      "and set settings by the environment of `npm run deploy`, which derives the rest from them.",
  )
}

/** Parts of a configuration that settings or the name decide on. */
const PARTS: [name: string, partOf: (config: Config) => unknown][] = [
  ["d1_databases", (config) => config.d1_databases.map((one) => one.database_name)],
  ["r2_buckets", (config) => config.r2_buckets.map((one) => one.bucket_name)],
  ["queues", (config) => config.queues],
  ["ratelimits", (config) => config.ratelimits],
  ["analytics_engine_datasets", (config) => config.analytics_engine_datasets],
  ["routes", (config) => config["routes"]],
  [
    "containers",
    (config) =>
      config.containers.map((one) => ({
        ...one,
        image: undefined,
        image_build_context: undefined,
      })),
  ],
]

/** Sends the secrets that the Worker lacks, by which wrangler makes a Worker that answers nothing where there is none. */
async function sendSecrets(deployment: Deployment, configPath: string): Promise<string> {
  const { id, name, origin } = deployment
  const { toSend, said } = planSecrets(deployment, false)
  if (Object.keys(toSend).length === 0) return said
  await withSecretsFile(configPath, toSend, async (path) => {
    await runWranglerOrThrow(["secret", "bulk", path, "--name", name, "--config", configPath])
  })
  const { nextOperatorToken: token, ...kept } = readDeploymentRecord(id)
  if (token !== undefined) writeDeploymentRecord(id, { ...kept, origin, operatorToken: token })
  return said
}
