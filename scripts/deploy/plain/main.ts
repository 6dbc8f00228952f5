import { findWranglerCommand } from "./command-line.ts"
import { prepareWranglerDeploy } from "./prepare.ts"
import { CliError, runScript } from "../../cli/cli-error.ts"
import { pickEnvironmentVariables } from "../../cli/environment.ts"
import { readServiceConfig } from "../../cli/service-config.ts"
import { ensureSite } from "../../site/ensure.ts"

/**
 * Custom build command of wrangler.toml, which wrangler runs before its first request to the
 * account. The command prepares the account for a `wrangler deploy` without `npm run deploy`.
 */
await runScript(async () => {
  const command = findWranglerCommand()
  if (command !== "deploy otherwise") console.log(`Documentation: ${await ensureSite()}.`)
  if (command === "other") return
  if (command === "deploy otherwise") {
    throw new CliError(
      "Nothing was changed: `wrangler deploy` is prepared only for wrangler.toml as it is. For another name, " +
        "domain or setting use `npm run deploy`, which takes them from the environment (docs/operate/settings.md).",
    )
  }
  const { stateDir } = readServiceConfig(pickEnvironmentVariables(process.env, ["STATE_DIR"]))
  await prepareWranglerDeploy(process.env, stateDir)
})
