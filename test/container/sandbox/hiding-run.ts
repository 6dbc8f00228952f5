import {
  SANDBOX_TIERS,
  createTierSandbox,
} from "../../../container/sandbox/tiers/choose-sandbox.ts"
import type { SandboxTier } from "../../../container/sandbox/tiers/tier.ts"
import { startToolProcess } from "../../../container/sandbox/start-process.ts"
import { destroyTaskSandbox, createTaskSandbox } from "../../../container/sandbox/task-sandbox.ts"
import { createWorkspace } from "../../../container/sandbox/workspace.ts"
import { makeTestRunnerSettings } from "../../support/runner/runner-settings.ts"

/**
 * Runs a tool as a task does, under this process's user. Prints the end of the tool, and removes
 * the workspace after a byte on stdin. Usage:
 *
 *   hiding-run.ts TIER TOOL WORD WORKING_FOLDER
 */
const [, , tier, tool = "", word = "", workDir = ""] = process.argv
const settings = makeTestRunnerSettings({
  WORKSPACE_BYTES_MAX: "10000000",
  WORKSPACE_FILES_MAX: "500",
})
const taskSandbox = createTaskSandbox(createTierSandbox(readTier(tier), settings))
const run = { taskId: crypto.randomUUID(), fence: 1 }
const cwd = await createWorkspace(workDir, run, taskSandbox.uid)
const end = await startToolProcess({
  tool,
  argv: [word],
  taskSandbox,
  cwd,
  access: "write",
  timeLimitMs: 20_000,
  signal: new AbortController().signal,
}).finished
console.log(JSON.stringify(end))
await process.stdin[Symbol.asyncIterator]().next()
await destroyTaskSandbox(taskSandbox, cwd)
process.exit()

function readTier(text: string | undefined): SandboxTier {
  return SANDBOX_TIERS.find((tier) => tier === text) ?? "none"
}
