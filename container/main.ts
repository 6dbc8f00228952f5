import { createServer } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { problemOfHost } from "./authorize.ts"
import { makeSettings, readEnvironment } from "./environment.ts"
import { sayHello } from "./hello.ts"
import { toListener } from "./http-adapter.ts"
import { log } from "./log.ts"
import { chooseSandbox } from "./sandbox/choose.ts"
import { makeRunner } from "./server.ts"
import { removeLeftWorkspaces } from "./workspace.ts"

const LEAVE_MS_MAX = 9000

const environment = readEnvironment(process.env)
const settings = makeSettings(environment)
const { RUNNER_PORT: port, RUNNER_HOST: host, HELLO_URL: url, HELLO_TOKEN: token } = environment

const problem = problemOfHost(host, settings.token)
if (problem !== null) {
  console.error(problem)
  process.exit(1)
}

// Inputs are the runner's own files, and the tools' users must be able to read them.
process.umask(0o022)
await removeLeftWorkspaces(settings.workDir)
const runner = makeRunner(settings, chooseSandbox(settings))
const server = createServer(toListener((request) => runner.fetch(request)))
server.listen(port, host, () => {
  const address = server.address()
  const bound = typeof address === "object" ? address?.port : null
  log("runner.listening", { boot: settings.boot, host, port: bound, capacity: settings.capacity })
  if (url !== undefined && token !== undefined) void sayHello({ url, token, boot: settings.boot })
})

async function leave(signal: NodeJS.Signals): Promise<void> {
  log("runner.leaving", { signal })
  await Promise.race([runner.leave(), sleep(LEAVE_MS_MAX)])
  process.exit(0)
}

process.once("SIGTERM", (signal) => void leave(signal))
process.once("SIGINT", (signal) => void leave(signal))
