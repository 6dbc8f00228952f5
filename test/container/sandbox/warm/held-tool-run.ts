/* Prepares a warm sandbox in a work folder, prints a line, and waits to be killed. */
import { createTierSandbox } from "../../../../container/sandbox/tiers/choose-sandbox.ts"
import { createWarmTaskSandbox } from "../../../../container/sandbox/task-sandbox.ts"
import { makeTestRunnerSettings } from "../../../support/runner/runner-settings.ts"
import { findTierWithNamespaces } from "../../../support/runner/supported-tiers.ts"

const [, , workDir = ""] = process.argv
const sandbox = createTierSandbox(
  (await findTierWithNamespaces()) ?? "none",
  makeTestRunnerSettings(),
)
const tools = [{ tool: "/bin/ls", access: "read" as const }]
const { warmSandbox: place } = await createWarmTaskSandbox(sandbox, workDir, tools, "tool")
console.log(await place.ready)
setInterval(() => undefined, 60_000)
