import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CliError } from "../cli/cli-error.ts"
import { makeDeploymentProblemsError } from "./checks.ts"
import {
  deriveWranglerConfig,
  listConfiguredQueueNames,
  readWranglerSettings,
  writeWranglerConfig,
} from "./config.ts"
import type { WranglerConfig } from "./config.ts"
import { findDockerProblem, findToolProblems, describeToolVersions } from "./machine.ts"
import { migrateDeployedDatabases } from "./migrate.ts"
import {
  describeDeploymentSettings,
  mergeDeploymentSettings,
  readDeploymentSettings,
} from "./settings.ts"
import { ensureSite } from "../site/ensure.ts"
import { runWranglerOrThrow } from "./wrangler.ts"

/**
 * Makes a dry run: runs every part of a deployment that needs no Cloudflare account, in temporary
 * folders. Throws a CliError at the end if Docker, which a deployment needs, does not respond.
 */
export async function rehearseDeployment(
  environment: NodeJS.ProcessEnv,
  stateDir: string,
): Promise<void> {
  const settings = readDeploymentSettings(environment)
  const problems = [...findToolProblems(), ...settings.problems]
  if (problems.length > 0) throw makeDeploymentProblemsError(problems)
  const docker = await findDockerProblem()
  console.log(`Tools: ${describeToolVersions()}${docker === null ? ", Docker" : ""}.`)
  console.log("Account: not checked in a rehearsal.")

  const { name } = settings
  const config = deriveWranglerConfig({
    name,
    vars: mergeDeploymentSettings(settings, {}, readWranglerSettings()),
  })
  const configPath = writeWranglerConfig(stateDir, `${name}-rehearsal`, config)
  console.log(planOf(config, Object.keys(settings.secrets)))
  console.log(`Configuration: ${configPath}`)

  console.log(`Documentation: ${await ensureSite()}.`)
  const folder = mkdtempSync(join(tmpdir(), "lathe-rehearsal-"))
  try {
    const where = ["--local", "--persist-to", folder]
    const databaseState = await migrateDeployedDatabases(config, configPath, where)
    console.log(`Database: ${databaseState}, in a temporary copy.`)
    const words = ["--config", configPath, "--outdir", join(folder, "bundle")]
    await runWranglerOrThrow(["deploy", "--dry-run", "--containers-rollout=none", ...words])
    console.log("Worker: wrangler builds it and accepts its configuration; no image was built.")
  } finally {
    rmSync(folder, { recursive: true })
  }
  if (docker !== null) {
    throw new CliError(
      `All other steps succeeded, but a deployment from this machine would stop. Missing:\n- ${docker}`,
    )
  }
  console.log("The rehearsal succeeded. Cloudflare was not changed.")
}

function planOf(config: WranglerConfig, secretNames: string[]): string {
  const containers = config.containers.map(
    ({ name, instance_type: type, max_instances: instances }) =>
      `${name} (${JSON.stringify(type)}, up to ${instances})`,
  )
  return [
    "A deployment would create the missing ones of these:",
    `  Worker       ${String(config["name"])}`,
    ...config.d1_databases.map(({ database_name: name }) => `  D1 database  ${name}`),
    ...config.r2_buckets.map(({ bucket_name: name }) => `  R2 bucket    ${name}`),
    `  Queues       ${listConfiguredQueueNames(config).join(", ")}`,
    `  Containers   ${containers.join(", ")}`,
    `  Settings     ${describeDeploymentSettings(config.vars)}`,
    `  Secrets      ${["LATHE_SECRET", "OPERATOR_TOKEN", ...secretNames].join(", ")}`,
  ].join("\n")
}
