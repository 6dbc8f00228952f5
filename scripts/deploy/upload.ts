import { rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Complaint } from "../local/complaint.ts"
import { readKept, writeKept } from "../local/operator-tokens.ts"
import { refreshCredentials } from "./account.ts"
import type { Deployment } from "./checks.ts"
import type { Config } from "./config.ts"
import { readDeployed } from "./deployed.ts"
import { fingerprintOf } from "./fingerprint.ts"
import { demandWrangler } from "./wrangler.ts"

/** Builds and deploys Worker and containers where they are not yet as the clone has them. */
export async function deployWorker(
  deployment: Deployment,
  config: Config,
  configPath: string,
  secrets: Record<string, string>,
): Promise<string> {
  const { place, api, name, deployed } = deployment
  const kept = readKept(place)
  const fingerprint = fingerprintOf(config)
  const isSame =
    kept.deployed?.fingerprint === fingerprint && kept.deployed.versionId === deployed?.versionId
  if (isSame && Object.keys(secrets).length === 0) return "as this clone has it, left alone"

  const logPath = join(dirname(configPath), "wrangler.log")
  writeFileSync(logPath, "")
  console.log(`Building and deploying; a first time takes minutes. It is told in ${logPath}`)
  await runDeploy(configPath, secrets, logPath)
  const versionId = (await readDeployed(await refreshCredentials(api), name))?.versionId
  if (!versionId) throw new Complaint(`Cloudflare does not show the version; see ${logPath}`)
  const token = kept.nextOperatorToken ?? kept.operatorToken
  writeKept(place, {
    origin: deployment.origin,
    ...(token !== undefined && { operatorToken: token }),
    deployed: { fingerprint, versionId },
  })
  return `deployed version ${versionId}`
}

/** Secrets go by a file that only this user can read and that is gone afterwards. */
async function runDeploy(
  configPath: string,
  secrets: Record<string, string>,
  logPath: string,
): Promise<void> {
  const words = ["deploy", "--config", configPath]
  const path = join(dirname(configPath), "secrets.json")
  try {
    if (Object.keys(secrets).length > 0) {
      writeFileSync(path, JSON.stringify(secrets), { mode: 0o600 })
      words.push("--secrets-file", path)
    }
    await demandWrangler(words, { logPath })
  } finally {
    rmSync(path, { force: true })
  }
}
