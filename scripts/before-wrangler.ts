import { findWranglerCommand } from "./deploy/plain/command-line.ts"
import { prepare } from "./deploy/plain/prepare.ts"
import { CliError, runScript } from "./local/cli-error.ts"
import { pickVariables } from "./local/environment.ts"
import { readServiceConfig } from "./local/service-config.ts"

/** The custom build of wrangler.toml: wrangler runs it before it asks the account for anything. */
await runScript(async () => {
  const command = findWranglerCommand()
  if (command === "other") return
  if (command === "deploy otherwise") {
    throw new CliError(
      "Nothing was changed: `wrangler deploy` is prepared only for wrangler.toml as it is. For another name, " +
        "domain or setting use `npm run deploy`, which takes them from the environment (docs/operate/settings.md).",
    )
  }
  const { stateDir } = readServiceConfig(pickVariables(process.env, ["STATE_DIR"]))
  await prepare(process.env, stateDir)
})
