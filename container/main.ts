import { setDefaultResultOrder } from "node:dns"
import { createServer } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { removeLeftSocketFolders } from "./egress/socket-folder.ts"
import { hideSecrets, secretsInside } from "../src/contract/redact.ts"
import { log } from "./log.ts"
import { keepChoosingSandbox } from "./sandbox/keep-choosing.ts"
import { removeLeftWorkspaces } from "./sandbox/task-sandbox.ts"
import { claimToolUsers } from "./sandbox/tool-users.ts"
import { openWorkDir } from "./sandbox/workspace.ts"
import { announceRunner } from "./server/announce.ts"
import { toListener } from "./server/http-adapter.ts"
import { makeRunner } from "./server/server.ts"
import { makeSettings, problemOfHost, readEnvironment } from "./settings.ts"
import { useYtdlpVersion } from "./tools/ytdlp/version.ts"

/** How long last reports may take: on one machine, and where drained tasks had minutes. */
const LAST_REPORTS_MS = { atOnce: 9000, drained: 90_000 }

// Containers have no way to IPv6, and what is sent there is dropped without an answer.
setDefaultResultOrder("ipv4first")

const environment = readEnvironment(process.env)
const made = makeSettings(environment)
const isRoot = process.getuid?.() === 0
const sandboxFirstUid = isRoot ? await claimToolUsers(made.sandboxFirstUid) : made.sandboxFirstUid
const settings = { ...made, sandboxFirstUid }
for (const name of ["RUNNER_TOKEN", "ANNOUNCE_TOKEN", "FETCH_COOKIES", "FETCH_PROXY"]) {
  const value = process.env[name]
  hideSecrets([value, ...secretsInside(value)])
}
const { RUNNER_PORT: port, RUNNER_HOST: host } = environment

// The runner owns the inputs, and the users of the tools must be able to read them.
process.umask(0o022)
const problem = problemOfHost(host, settings.token) ?? openWorkDir(settings.workDir)
if (problem !== null) {
  console.error(problem)
  process.exit(1)
}

await removeLeftWorkspaces(settings.workDir)
await removeLeftSocketFolders(settings.workDir)
useYtdlpVersion(settings)
const latestChoice = keepChoosingSandbox(settings, () => process.exit(1))
const runner = makeRunner(settings, latestChoice)
const server = createServer(toListener(runner))
server.listen(port, host, () => {
  const address = server.address()
  const bound = typeof address === "object" ? address?.port : null
  log("info", "runner.listening", {
    boot: settings.boot,
    host,
    port: bound,
    capacity: settings.capacity,
  })
  const { ANNOUNCE_URL: url, ANNOUNCE_TOKEN: token } = environment
  if (url !== undefined && token !== undefined) {
    void announceRunner({ url, token, boot: settings.boot })
  }
})

async function shutDown(reportsMs: number): Promise<void> {
  await Promise.race([runner.shutDown(), sleep(reportsMs)])
  process.exit(0)
}

async function drain(): Promise<void> {
  const { drainMs } = settings
  await runner.drain(drainMs)
  await shutDown(drainMs === 0 ? LAST_REPORTS_MS.atOnce : LAST_REPORTS_MS.drained)
}

let draining: Promise<void> | null = null
// The default answer to a second SIGTERM would end the process with its tasks.
process.on("SIGTERM", (signal) => {
  log("info", "runner.leaving", { signal })
  draining ??= drain()
})
process.once("SIGINT", (signal) => {
  log("info", "runner.leaving", { signal })
  void shutDown(LAST_REPORTS_MS.atOnce)
})
