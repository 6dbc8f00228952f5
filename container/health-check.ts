import { runnerHeaders } from "../src/contract/protocol.ts"
import { runnerHealth } from "../src/contract/runner-health.ts"
import { readEnvironment } from "./settings.ts"

/**
 * Prints the health of the runner in this container, and exits with 1 where it accepts no task:
 *   health-check.ts [all-attacks]
 */
const query = process.argv[2] === "all-attacks" ? "?attacks=all" : ""
const { RUNNER_PORT: port, RUNNER_TOKEN: token } = readEnvironment(process.env)

// The container engine kills this process where the response takes too long.
const response = await fetch(`http://127.0.0.1:${port}/health${query}`, {
  headers: runnerHeaders(token),
})
const text = await response.text()
console.log(text)
// A runner without a sandbox accepts no task.
if (!runnerHealth.parse(JSON.parse(text)).sandbox.ok) process.exitCode = 1
