import { z } from "zod"
import { CliError } from "../../cli/cli-error.ts"
import { readDeploymentRecord, writeDeploymentRecord } from "../../cli/deployment-record.ts"
import { NO_ANALYTICS_CLAUSE, canBindAnalytics } from "../analytics.ts"
import { checkDeployment } from "../checks.ts"
import type { CheckedDeployment } from "../checks.ts"
import { findCloudflareResource } from "../cloudflare.ts"
import { deriveWranglerConfig, readWranglerConfig, writeWranglerConfig } from "../config.ts"
import type { WranglerConfig } from "../config.ts"
import { migrateDeployedDatabases } from "../migrate.ts"
import { createMissingResources } from "../resources.ts"
import { prepareWorkerSecrets, withWorkerSecretsFile } from "../secrets.ts"
import { readDeploymentSettings, listChangedDeploymentSettings } from "../settings.ts"
import { runWranglerOrThrow } from "../wrangler.ts"

/**
 * Creates the resources that a `wrangler deploy` without `npm run deploy` needs: storage, queues, a
 * Worker with the required secrets, and migrated databases. Throws a CliError if the deployed
 * settings differ from wrangler.toml.
 */
export async function prepareWranglerDeploy(
  environment: NodeJS.ProcessEnv,
  stateDir: string,
): Promise<void> {
  const source = readWranglerConfig()
  refuseOtherConfig(source)
  warnOfSettings(environment)
  const deployment = await checkDeployment(environmentOf(environment, source), stateDir)
  refuseOtherSettings(deployment, source)
  await refuseLostDatabases(deployment)
  if (!(await canBindAnalytics(deployment))) {
    throw new CliError(
      `Nothing was changed: ${NO_ANALYTICS_CLAUSE}, and wrangler.toml has a dataset. Turn it on, or deploy with ` +
        "`npm run deploy`, which leaves the metrics out.",
    )
  }

  const { api, name, vars } = deployment
  const base = { name, vars, accountId: api.accountId }
  const { createdNames, databaseIds } = await createMissingResources(
    api,
    deriveWranglerConfig(base),
  )
  console.log(
    `Storage and queues: ${createdNames.length > 0 ? `created ${createdNames.join(", ")}` : "all there"}.`,
  )
  const config = deriveWranglerConfig({ ...base, databaseIds })
  const configPath = writeWranglerConfig(stateDir, name, config)
  console.log(`Secrets: ${await sendSecrets(deployment, configPath)}.`)
  console.log(`Database: ${await migrateDeployedDatabases(config, configPath, ["--remote"])}.`)
  console.log(
    `wrangler deploys the rest. A key then: npm run keys -- create --account me --plan paid --remote ${deployment.origin}`,
  )
}

/**
 * Returns the environment variables for the checks: those that select the Cloudflare account, but
 * no settings of the service, because `wrangler deploy` reads no settings from the environment.
 */
function environmentOf(
  { CLOUDFLARE_API_TOKEN: token, CLOUDFLARE_ACCOUNT_ID: chosen }: NodeJS.ProcessEnv,
  { account_id: accountId = chosen, name }: WranglerConfig,
): NodeJS.ProcessEnv {
  return {
    CLOUDFLARE_API_TOKEN: token,
    CLOUDFLARE_ACCOUNT_ID: accountId,
    ...(name !== readDeploymentSettings({}).name && { LATHE_NAME: name }),
  }
}

function warnOfSettings(environment: NodeJS.ProcessEnv): void {
  const { values, secrets } = readDeploymentSettings(environment)
  const names = [...Object.keys(values), ...Object.keys(secrets)]
  if (environment["LATHE_NAME"] !== undefined) names.push("LATHE_NAME")
  if (names.length === 0) return
  console.error(
    `Warning: \`wrangler deploy\` does not read ${names.join(", ")} from the environment; \`npm run deploy\` does.`,
  )
}

/**
 * Throws a CliError if the deployed settings differ from wrangler.toml, because wrangler would
 * reset these settings without a warning.
 */
function refuseOtherSettings(
  { vars, name }: CheckedDeployment,
  { vars: ofFile }: WranglerConfig,
): void {
  const names = listChangedDeploymentSettings(ofFile, vars)
  if (names.length === 0) return
  throw new CliError(
    `Nothing was changed: "${name}" is deployed with settings that wrangler.toml lacks or has otherwise ` +
      `(${names.join(", ")}), and \`wrangler deploy\` would take them back. Deploy with \`npm run deploy\`, which keeps them.`,
  )
}

/**
 * Throws a CliError if a bound database no longer exists, because wrangler would fail without
 * naming the reason.
 */
async function refuseLostDatabases({ api, deployed }: CheckedDeployment): Promise<void> {
  for (const id of deployed?.databaseIds ?? []) {
    if (await findCloudflareResource(api, z.unknown(), `/d1/database/${id}`)) continue
    throw new CliError(
      `Nothing was changed: the deployed Worker is bound to the D1 database ${id}, which is gone with all that ` +
        "was in it. `npm run deploy` makes an empty one and binds it.",
    )
  }
}

/**
 * Throws a CliError if parts of wrangler.toml differ from those that `npm run deploy` would derive
 * from the file's name and settings.
 */
function refuseOtherConfig(source: WranglerConfig): void {
  const derived = deriveWranglerConfig({ name: source.name, vars: source.vars })
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

/** Parts of a configuration that `npm run deploy` derives from the settings or the name. */
const PARTS: [name: string, partOf: (config: WranglerConfig) => unknown][] = [
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

/**
 * Sends the secrets that the Worker lacks, and returns a summary. If there is no Worker, wrangler
 * creates one without code.
 */
async function sendSecrets(deployment: CheckedDeployment, configPath: string): Promise<string> {
  const { id, name, origin } = deployment
  const { toSend, summary } = prepareWorkerSecrets(deployment, false)
  if (Object.keys(toSend).length === 0) return summary
  await withWorkerSecretsFile(configPath, toSend, async (path) => {
    await runWranglerOrThrow(["secret", "bulk", path, "--name", name, "--config", configPath])
  })
  const { nextOperatorToken: token, ...kept } = readDeploymentRecord(id)
  if (token !== undefined) writeDeploymentRecord(id, { ...kept, origin, operatorToken: token })
  return summary
}
