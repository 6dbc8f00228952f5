import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { CliError } from "../local/cli-error.ts"
import { readDeploymentRecord, writeDeploymentRecord } from "../local/deployment-record.ts"
import { refreshCredentials } from "./account.ts"
import type { Deployment } from "./checks.ts"
import type { Config } from "./config.ts"
import { readDeployed } from "./deployed.ts"
import { fingerprintOf } from "./fingerprint.ts"
import { withSecretsFile } from "./secrets.ts"
import { runWranglerOrThrow } from "./wrangler.ts"

/** Builds and deploys Worker and containers, unless the deployed version is of the same sources. */
export async function deployWorker(
  deployment: Deployment,
  config: Config,
  configPath: string,
  secrets: { toSend: Record<string, string>; removed: string[] },
): Promise<string> {
  const { id, api, name, deployed } = deployment
  const kept = readDeploymentRecord(id)
  const fingerprint = fingerprintOf(config)
  const isSame =
    kept.deployed?.fingerprint === fingerprint && kept.deployed.versionId === deployed?.versionId
  const { toSend, removed } = secrets
  if (isSame && Object.keys(toSend).length === 0 && removed.length === 0)
    return "as this clone has it, left alone"

  const logPath = join(dirname(configPath), "wrangler.log")
  writeFileSync(logPath, "")
  console.log(`Building and deploying; a first time takes minutes. It is told in ${logPath}`)
  await runDeploy(configPath, toSend, logPath)
  const versionId = (await readDeployed(await refreshCredentials(api), name))?.versionId
  if (!versionId) throw new CliError(`Cloudflare does not show the version; see ${logPath}`)
  const token = kept.nextOperatorToken ?? kept.operatorToken
  writeDeploymentRecord(id, {
    origin: deployment.origin,
    ...(token !== undefined && { operatorToken: token }),
    deployed: { fingerprint, versionId },
  })
  return `deployed version ${versionId}`
}

async function runDeploy(
  configPath: string,
  secrets: Record<string, string>,
  logPath: string,
): Promise<void> {
  const words = ["deploy", "--config", configPath]
  if (Object.keys(secrets).length === 0) {
    await runWranglerOrThrow(words, { logPath })
    return
  }
  await withSecretsFile(configPath, secrets, async (path) => {
    await runWranglerOrThrow([...words, "--secrets-file", path], { logPath })
  })
}
