import { NO_ANALYTICS, hasAnalytics } from "./deploy/analytics.ts"
import { checkEverything } from "./deploy/checks.ts"
import type { Deployment } from "./deploy/checks.ts"
import { deriveConfig, settingsOfClone, writeConfig } from "./deploy/config.ts"
import { tellOfFfmpeg } from "./deploy/ffmpeg-source.ts"
import { parseFlags, USAGE } from "./deploy/flags.ts"
import { findCheckedService } from "./deploy/live-check/find-operator.ts"
import { readCheckUrl, runCheck } from "./deploy/live-check/run.ts"
import { opensOperatorRoutes, untilLive } from "./deploy/live.ts"
import { toolVersions } from "./deploy/machine.ts"
import { tellOfMail } from "./deploy/mail.ts"
import { migrate } from "./deploy/migrate.ts"
import { rehearse } from "./deploy/rehearsal.ts"
import { makeResources } from "./deploy/resources.ts"
import { planSecrets, removeSecrets } from "./deploy/secrets.ts"
import { describeSettings, warningsOfDeployment } from "./deploy/settings.ts"
import { deployWorker } from "./deploy/upload.ts"
import type { Operator } from "./keys/operator.ts"
import { CliError, runScript } from "./local/cli-error.ts"
import { readDeploymentRecord } from "./local/deployment-record.ts"
import { pickVariables } from "./local/environment.ts"
import { readServiceConfig } from "./local/service-config.ts"

await runScript(async () => {
  const flags = parseFlags(process.argv.slice(2))
  const { stateDir } = readServiceConfig(pickVariables(process.env, ["STATE_DIR"]))
  if (!flags.wantsHelp) {
    const warnings = warningsOfDeployment(process.env, settingsOfClone())
    for (const warning of warnings) console.error(warning)
  }
  if (flags.wantsHelp) {
    console.log(USAGE)
  } else if (flags.isRehearsal) {
    await rehearse(process.env, stateDir)
  } else if (flags.check === "alone") {
    const checkUrl = readCheckUrl(process.env)
    await runCheck(findCheckedService(process.env, flags.origin), checkUrl)
  } else {
    const checkUrl = readCheckUrl(process.env)
    const deployment = await checkEverything(process.env, stateDir)
    console.log(`Checked: ${toolVersions()}, Docker, account ${deployment.api.accountId}.`)
    console.log(`Settings: ${describeSettings(deployment.vars)}.`)
    for (const sentence of tellOfMail(deployment)) console.log(`Mail: ${sentence}`)
    const ofFfmpeg = await tellOfFfmpeg()
    if (ofFfmpeg !== null) console.log(`ffmpeg: ${ofFfmpeg}`)
    await deploy(deployment, flags.rotatesOperatorToken)
    const operator = await printNextSteps(deployment)
    if (operator && flags.check === "after") await runCheck(operator, checkUrl)
  }
})

async function deploy(deployment: Deployment, rotatesOperatorToken: boolean): Promise<void> {
  const { id, api, name, vars, origin } = deployment
  const analytics = await hasAnalytics(deployment)
  if (!analytics) {
    console.log(
      `Metrics: left out, since ${NO_ANALYTICS}; the next npm run deploy after that has them.`,
    )
  }
  const base = { name, vars, accountId: api.accountId, hasAnalytics: analytics }
  const { databaseIds } = await runPhase("Storage and queues", async () => {
    const { made, ...rest } = await makeResources(api, deriveConfig(base))
    return { ...rest, said: made.length > 0 ? `made ${made.join(", ")}` : "all there" }
  })
  const config = deriveConfig({ ...base, databaseIds })
  const configPath = writeConfig(id.stateDir, name, config)
  const { toSend, removed } = await runPhase("Secrets", async () => {
    const plan = planSecrets(deployment, rotatesOperatorToken)
    const removed = await removeSecrets(deployment)
    const said = removed.length > 0 ? `${plan.said}; removed ${removed.join(", ")}` : plan.said
    return { ...plan, removed, said }
  })
  await runPhase("Database", async () => ({
    said: await migrate(config, configPath, ["--remote"]),
  }))
  await runPhase("Worker and containers", async () => ({
    said: await deployWorker(deployment, config, configPath, { toSend, removed }),
  }))
  await runPhase("Health", async () => {
    return { said: `${origin}/v1/health says ${await untilLive(origin)}` }
  })
}

/** Runs one phase and prints what it did; an error names the phase that failed. */
async function runPhase<T extends { said: string }>(
  name: string,
  act: () => Promise<T>,
): Promise<T> {
  try {
    const done = await act()
    console.log(`${name}: ${done.said}.`)
    return done
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    throw new CliError(
      `${name}: failed. ${error.message}\nWhat was done before stays; npm run deploy goes on from here.`,
      { cause: error },
    )
  }
}

/** Says what comes next; answers the operator of the service, null where this machine has no token of it. */
async function printNextSteps({ id, origin }: Deployment): Promise<Operator | null> {
  const token = process.env["OPERATOR_TOKEN"] ?? readDeploymentRecord(id).operatorToken
  console.log(`\nLathe answers at ${origin}/v1. New containers may need some minutes more.`)
  if (token === undefined) {
    console.log("Check: left out, since this machine keeps no operator token; set OPERATOR_TOKEN.")
    return null
  }
  if (await opensOperatorRoutes(origin, token)) {
    console.log(`A key: npm run keys -- create --account me --plan paid --remote ${origin}`)
    return { origin, token, isLocal: false }
  }
  console.log(
    "The operator token on this machine is not that of the Worker; make a new one with npm run deploy -- --rotate-operator-token",
  )
  return null
}
