import { makeRunnerHeaders } from "../src/contract/protocol.ts"
import { runnerHealthSchema } from "../src/contract/runner-health.ts"
import { parseRunnerEnvironment } from "./settings.ts"

/**
 * Prints the health of the runner in this container. Exits with code 1 if the runner accepts no
 * tasks. Usage: health-check.ts [all-attacks]. With `all-attacks`, the runner first tests its
 * sandbox with programs that try to break out.
 */
const query = process.argv[2] === "all-attacks" ? "?attacks=all" : ""
const { RUNNER_PORT: port, RUNNER_TOKEN: token } = parseRunnerEnvironment(process.env)

// Sets no timeout, because the container engine kills this process if the response takes too long.
const response = await fetch(`http://127.0.0.1:${port}/health${query}`, {
  headers: makeRunnerHeaders(token),
})
const text = await response.text()
console.log(text)
// A runner without a sandbox accepts no tasks.
if (!runnerHealthSchema.parse(JSON.parse(text)).sandbox.ok) process.exitCode = 1
