import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { CliError } from "../local/cli-error.ts"
import { readDeploymentRecord, writeDeploymentRecord } from "../local/deployment-record.ts"
import { refreshCredentials } from "./account.ts"
import type { Deployment } from "./checks.ts"
import { writeConfig } from "./config.ts"
import type { Config } from "./config.ts"
import { readDeployed } from "./deployed.ts"
import { fingerprintOf } from "./fingerprint.ts"
import { buildImages, findBase } from "./images/build.ts"
import { pruneImages, readImagesInUse } from "./images/prune.ts"
import { withSecretsFile } from "./secrets.ts"
import { runWranglerOrThrow } from "./wrangler.ts"

/** Characters of the fingerprint that tell the images of a deployment from those of others. */
const TAG_LENGTH = 12

/** Builds and deploys Worker and containers, unless the deployed version is of the same sources. */
export async function deployWorker(
  deployment: Deployment,
  config: Config,
  configPath: string,
  secrets: { toSend: Record<string, string>; removed: string[] },
): Promise<string> {
  const { id, api, name, deployed } = deployment
  const kept = readDeploymentRecord(id)
  const base = await findBase(kept.base)
  const fingerprint = fingerprintOf(config, base)
  const isSame =
    kept.deployed?.fingerprint === fingerprint && kept.deployed.versionId === deployed?.versionId
  const { toSend, removed } = secrets
  if (isSame && Object.keys(toSend).length === 0 && removed.length === 0)
    return "as this clone has it, left alone"

  const logPath = join(dirname(configPath), "wrangler.log")
  writeFileSync(logPath, "")
  console.log(`Building and deploying; a first time takes minutes. It is told in ${logPath}`)
  const tag = fingerprint.slice(0, TAG_LENGTH)
  const built = await buildImages(config, { api, base, tag, logPath })
  writeConfig(id.stateDir, name, built)
  const before = await readImagesInUse(await refreshCredentials(api))
  await runDeploy(configPath, toSend, logPath)
  const fresh = await refreshCredentials(api)
  const versionId = (await readDeployed(fresh, name))?.versionId
  if (!versionId) throw new CliError(`Cloudflare does not show the version; see ${logPath}`)
  const token = kept.nextOperatorToken ?? kept.operatorToken
  writeDeploymentRecord(id, {
    origin: deployment.origin,
    ...(token !== undefined && { operatorToken: token }),
    deployed: { fingerprint, versionId },
    base,
  })
  const pruned = await pruneImages(fresh, { config, configPath, before })
  const said = `deployed version ${versionId}, with images on ${base}`
  return pruned === null ? said : `${said}; ${pruned}`
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
