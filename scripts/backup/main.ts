import { resolve } from "node:path"
import { backUpStateFolder } from "./back-up.ts"
import { CliError, runScript } from "../cli/cli-error.ts"
import { readServiceConfig } from "../cli/service-config.ts"

const USAGE = `Usage: npm run backup -- FOLDER

Copies what the service of STATE_DIR keeps, which may run meanwhile, into a folder that is new, empty or
holds an earlier copy: that is brought up to date. The folder above it has to be there, and both folders
are closed to other users. Start a service with the copy as its STATE_DIR to restore it.
docs/operate/one-machine.md says more.`

// Makes all new files, including those of SQLite, readable by this user only.
process.umask(0o077)
await runScript(async () => {
  const [folder, ...others] = process.argv.slice(2)
  if (folder === undefined || folder.startsWith("-") || others.length > 0) throw new CliError(USAGE)
  const { stateDir } = readServiceConfig(process.env)
  const { copied, kept, removed, bytes } = await backUpStateFolder(stateDir, resolve(folder))
  const mebibytes = (bytes / 1024 ** 2).toFixed(1)
  const update =
    kept + removed === 0
      ? ""
      : `; ${kept} were already there, and ${removed} that the service deleted were removed`
  console.log(`Copied ${copied} files (${mebibytes} MiB) of ${stateDir} to ${folder}${update}.`)
})
