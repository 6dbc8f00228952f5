import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CliError } from "../local/cli-error.ts"
import { missing } from "./checks.ts"
import { deriveConfig, queuesOf, settingsOfClone, writeConfig } from "./config.ts"
import type { Config } from "./config.ts"
import { findDockerProblem, findWrongTools, toolVersions } from "./machine.ts"
import { migrate } from "./migrate.ts"
import { describeSettings, mergeSettings, readWanted } from "./settings.ts"
import { runWranglerOrThrow } from "./wrangler.ts"

/**
 * Does every part of a deployment that needs no account, in temporary folders. What this machine lacks
 * for a deployment, and a rehearsal does without, is told at the end, by a CliError.
 */
export async function rehearse(environment: NodeJS.ProcessEnv, stateDir: string): Promise<void> {
  const wanted = readWanted(environment)
  const problems = [...findWrongTools(), ...wanted.problems]
  if (problems.length > 0) throw missing(problems)
  const docker = await findDockerProblem()
  console.log(`Tools: ${toolVersions()}${docker === null ? ", Docker" : ""}.`)
  console.log("Account: not asked in a rehearsal.")

  const { name } = wanted
  const config = deriveConfig({ name, vars: mergeSettings(wanted, {}, settingsOfClone()) })
  const configPath = writeConfig(stateDir, `${name}-rehearsal`, config)
  console.log(planOf(config, Object.keys(wanted.secrets)))
  console.log(`Configuration: ${configPath}`)

  const folder = mkdtempSync(join(tmpdir(), "lathe-rehearsal-"))
  try {
    const said = await migrate(config, configPath, ["--local", "--persist-to", folder])
    console.log(`Database: ${said}, in a copy that is thrown away.`)
    const words = ["--config", configPath, "--outdir", join(folder, "bundle")]
    await runWranglerOrThrow(["deploy", "--dry-run", "--containers-rollout=none", ...words])
    console.log("Worker: wrangler builds it and takes its configuration; no image was built.")
  } finally {
    rmSync(folder, { recursive: true })
  }
  if (docker !== null) {
    throw new CliError(
      `The rest went well, but a deployment from here would stop, since this is missing:\n- ${docker}`,
    )
  }
  console.log("The rehearsal went well. Nothing was changed at Cloudflare.")
}

function planOf(config: Config, secretNames: string[]): string {
  const containers = config.containers.map(
    ({ name, instance_type: type, max_instances: instances }) =>
      `${name} (${JSON.stringify(type)}, up to ${instances})`,
  )
  return [
    "A deployment would make what is missing of these:",
    `  Worker       ${String(config["name"])}`,
    ...config.d1_databases.map(({ database_name: name }) => `  D1 database  ${name}`),
    ...config.r2_buckets.map(({ bucket_name: name }) => `  R2 bucket    ${name}`),
    `  Queues       ${queuesOf(config).join(", ")}`,
    `  Containers   ${containers.join(", ")}`,
    `  Settings     ${describeSettings(config.vars)}`,
    `  Secrets      ${["LATHE_SECRET", "OPERATOR_TOKEN", ...secretNames].join(", ")}`,
  ].join("\n")
}
