import { NO_ANALYTICS_CLAUSE, canBindAnalytics } from "./analytics.ts"
import { checkDeployment } from "./checks.ts"
import type { CheckedDeployment } from "./checks.ts"
import { deriveWranglerConfig, readWranglerSettings, writeWranglerConfig } from "./config.ts"
import { describeNewerFfmpeg } from "./ffmpeg-source.ts"
import { parseDeployFlags, DEPLOY_USAGE } from "./flags.ts"
import { findServiceToCheck } from "./live-check/find-operator.ts"
import { ensureSite } from "../site/ensure.ts"
import { parseLiveCheckUrl, runLiveCheck } from "./live-check/run.ts"
import { isOperatorTokenAccepted, waitUntilLive } from "./wait-until-live.ts"
import { describeToolVersions } from "./machine.ts"
import { findMailSettingWarnings } from "./mail.ts"
import { migrateDeployedDatabases } from "./migrate.ts"
import { rehearseDeployment } from "./rehearsal.ts"
import { createMissingResources } from "./resources.ts"
import { prepareWorkerSecrets, removeWorkerSecrets } from "./secrets.ts"
import { describeDeploymentSettings, findDeploymentSettingWarnings } from "./settings.ts"
import { deployWorker } from "./upload.ts"
import type { OperatorAccess } from "../keys/operator.ts"
import { CliError, runScript } from "../cli/cli-error.ts"
import { readDeploymentRecord } from "../cli/deployment-record.ts"
import { pickEnvironmentVariables } from "../cli/environment.ts"
import { readServiceConfig } from "../cli/service-config.ts"

await runScript(async () => {
  const flags = parseDeployFlags(process.argv.slice(2))
  const { stateDir } = readServiceConfig(pickEnvironmentVariables(process.env, ["STATE_DIR"]))
  if (!flags.wantsHelp) {
    const warnings = findDeploymentSettingWarnings(process.env, readWranglerSettings())
    for (const warning of warnings) console.error(warning)
  }
  if (flags.wantsHelp) {
    console.log(DEPLOY_USAGE)
  } else if (flags.isRehearsal) {
    await rehearseDeployment(process.env, stateDir)
  } else if (flags.check === "alone") {
    const checkUrl = parseLiveCheckUrl(process.env)
    await runLiveCheck(findServiceToCheck(process.env, flags.origin), checkUrl)
  } else {
    const checkUrl = parseLiveCheckUrl(process.env)
    const deployment = await checkDeployment(process.env, stateDir)
    console.log(`Checked: ${describeToolVersions()}, Docker, account ${deployment.api.accountId}.`)
    console.log(`Settings: ${describeDeploymentSettings(deployment.vars)}.`)
    for (const sentence of findMailSettingWarnings(deployment)) console.log(`Mail: ${sentence}`)
    const ofFfmpeg = await describeNewerFfmpeg()
    if (ofFfmpeg !== null) console.log(`ffmpeg: ${ofFfmpeg}`)
    await deploy(deployment, flags.rotatesOperatorToken)
    const operator = await printNextSteps(deployment)
    if (operator && flags.check === "after") await runLiveCheck(operator, checkUrl)
  }
})

async function deploy(deployment: CheckedDeployment, rotatesOperatorToken: boolean): Promise<void> {
  const { id, api, name, vars, origin } = deployment
  await runPhase("Documentation", async () => ({ summary: await ensureSite() }))
  const analytics = await canBindAnalytics(deployment)
  if (!analytics) {
    console.log(
      `Metrics: left out, since ${NO_ANALYTICS_CLAUSE}; the next npm run deploy after that has them.`,
    )
  }
  const base = { name, vars, accountId: api.accountId, hasAnalytics: analytics }
  const { databaseIds } = await runPhase("Storage and queues", async () => {
    const { createdNames, ...rest } = await createMissingResources(api, deriveWranglerConfig(base))
    return {
      ...rest,
      summary: createdNames.length > 0 ? `created ${createdNames.join(", ")}` : "all there",
    }
  })
  const config = deriveWranglerConfig({ ...base, databaseIds })
  const configPath = writeWranglerConfig(id.stateDir, name, config)
  const { toSend, removed } = await runPhase("Secrets", async () => {
    const plan = prepareWorkerSecrets(deployment, rotatesOperatorToken)
    const removed = await removeWorkerSecrets(deployment)
    const summary =
      removed.length > 0 ? `${plan.summary}; removed ${removed.join(", ")}` : plan.summary
    return { ...plan, removed, summary }
  })
  await runPhase("Database", async () => ({
    summary: await migrateDeployedDatabases(config, configPath, ["--remote"]),
  }))
  await runPhase("Worker and containers", async () => ({
    summary: await deployWorker(deployment, config, configPath, { toSend, removed }),
  }))
  await runPhase("Health", async () => {
    return { summary: `${origin}/v1/health says ${await waitUntilLive(origin)}` }
  })
}

/**
 * Runs one phase of the deployment and prints its summary. Adds the name of the phase to a
 * CliError.
 */
async function runPhase<T extends { summary: string }>(
  name: string,
  act: () => Promise<T>,
): Promise<T> {
  try {
    const done = await act()
    console.log(`${name}: ${done.summary}.`)
    return done
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    throw new CliError(
      `${name}: failed. ${error.message}\nEarlier steps remain; npm run deploy continues from here.`,
      { cause: error },
    )
  }
}

/**
 * Prints the user's next steps. Returns the access to the operator's routes, or null if this
 * machine has no valid token.
 */
async function printNextSteps({ id, origin }: CheckedDeployment): Promise<OperatorAccess | null> {
  const token = process.env["OPERATOR_TOKEN"] ?? readDeploymentRecord(id).operatorToken
  console.log(`\nLathe runs at ${origin}/v1. New containers may need some more minutes.`)
  if (token === undefined) {
    console.log("Check: skipped, since this machine has no operator token; set OPERATOR_TOKEN.")
    return null
  }
  if (await isOperatorTokenAccepted(origin, token)) {
    console.log(`A key: npm run keys -- create --account me --plan paid --remote ${origin}`)
    return { origin, token, isLocal: false }
  }
  console.log(
    "The operator token on this machine is not that of the Worker; make a new one with npm run deploy -- --rotate-operator-token",
  )
  return null
}
