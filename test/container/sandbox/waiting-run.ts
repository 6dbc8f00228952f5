/* Prepares a sandbox that waits in a work folder, says so, and waits to be killed. */
import { describeSandbox } from "../../../container/sandbox/choose.ts"
import { prepareTaskSandbox } from "../../../container/sandbox/task-sandbox.ts"
import { runnerSettings } from "../../support/runner-settings.ts"
import { tierWithNamespaces } from "../../support/supported-tiers.ts"

const [, , workDir = ""] = process.argv
const sandbox = describeSandbox((await tierWithNamespaces()) ?? "none", runnerSettings())
const tools = [{ tool: "/bin/ls", access: "read" as const }]
const { place } = await prepareTaskSandbox(sandbox, workDir, tools, "tool")
console.log(await place.ready)
setInterval(() => undefined, 60_000)
