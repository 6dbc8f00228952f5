import { setDefaultResultOrder } from "node:dns"
import { createServer } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { removeAbandonedSocketFolders } from "./egress/socket-folder.ts"
import { registerSecrets, extractSecretsFromSetting } from "../src/contract/redact.ts"
import { log } from "./log.ts"
import { chooseSandboxWithRetries } from "./sandbox/tiers/retry-sandbox.ts"
import { removeAbandonedWorkspaces } from "./sandbox/task-sandbox.ts"
import { claimToolUserIds } from "./sandbox/tool-user-ids.ts"
import { prepareWorkDir } from "./sandbox/workspace.ts"
import { announceRunner } from "./server/announce.ts"
import { toNodeRequestListener } from "./server/node-adapter.ts"
import { createRunner } from "./server/runner.ts"
import { toRunnerSettings, explainUnsafeListenHost, parseRunnerEnvironment } from "./settings.ts"
import { installYtdlpUpdate } from "./tools/ytdlp/ytdlp-update.ts"

/**
 * Maximum time for sending the last reports of runs at shutdown, in milliseconds. `atOnce` applies
 * if the runner stops at once, and `drained` applies if the runner first waits for its running
 * tasks.
 */
const LAST_REPORTS_MS = { atOnce: 9000, drained: 90_000 }

// Prefers IPv4 addresses, because containers have no IPv6 route and packets to IPv6 addresses are
// dropped without an error.
setDefaultResultOrder("ipv4first")

const environment = parseRunnerEnvironment(process.env)
const baseSettings = toRunnerSettings(environment)
const isRoot = process.getuid?.() === 0
const sandboxFirstUid = isRoot
  ? await claimToolUserIds(baseSettings.sandboxFirstUid)
  : baseSettings.sandboxFirstUid
const settings = { ...baseSettings, sandboxFirstUid }
for (const name of ["RUNNER_TOKEN", "ANNOUNCE_TOKEN", "FETCH_COOKIES", "FETCH_PROXY"]) {
  const value = process.env[name]
  registerSecrets([value, ...extractSecretsFromSetting(value)])
}
const { RUNNER_PORT: port, RUNNER_HOST: host } = environment

// Lets other users read new files, because the runner creates the input files and tools run as
// other users.
process.umask(0o022)
const problem = explainUnsafeListenHost(host, settings.token) ?? prepareWorkDir(settings.workDir)
if (problem !== null) {
  console.error(problem)
  process.exit(1)
}

await removeAbandonedWorkspaces(settings.workDir)
await removeAbandonedSocketFolders(settings.workDir)
installYtdlpUpdate(settings)
const latestChoice = chooseSandboxWithRetries(settings, () => process.exit(1))
const runner = createRunner(settings, latestChoice)
const server = createServer(toNodeRequestListener(runner))
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
// Handles every SIGTERM, since by default a second SIGTERM would kill the process with its tasks.
process.on("SIGTERM", (signal) => {
  log("info", "runner.leaving", { signal })
  draining ??= drain()
})
process.once("SIGINT", (signal) => {
  log("info", "runner.leaving", { signal })
  void shutDown(LAST_REPORTS_MS.atOnce)
})
