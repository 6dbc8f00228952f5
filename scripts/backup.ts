import { resolve } from "node:path"
import { backUp } from "./backup/back-up.ts"
import { CliError, runScript } from "./local/cli-error.ts"
import { readServiceConfig } from "./local/service-config.ts"

const USAGE = `Usage: npm run backup -- FOLDER

Copies what the service of STATE_DIR keeps, which may run meanwhile, into a folder that is new, empty or
holds an earlier copy: that is brought up to date. The folder above it has to be there, and both folders
are closed to other users. Start a service with the copy as its STATE_DIR to restore it.
docs/operate/one-machine.md says more.`

// SQLite, too, makes files for this user alone.
process.umask(0o077)
await runScript(async () => {
  const [folder, ...others] = process.argv.slice(2)
  if (folder === undefined || folder.startsWith("-") || others.length > 0) throw new CliError(USAGE)
  const { stateDir } = readServiceConfig(process.env)
  const { copied, kept, removed, bytes } = await backUp(stateDir, resolve(folder))
  const mebibytes = (bytes / 1024 ** 2).toFixed(1)
  const update =
    kept + removed === 0
      ? ""
      : `; ${kept} were there already, and ${removed} that the service has no longer are gone from it`
  console.log(`Copied ${copied} files (${mebibytes} MiB) of ${stateDir} to ${folder}${update}.`)
})
