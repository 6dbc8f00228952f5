import { TIERS, describeSandbox } from "../../../container/sandbox/choose.ts"
import type { Tier } from "../../../container/sandbox/tier.ts"
import { startProcess } from "../../../container/sandbox/start.ts"
import { closeTaskSandbox, openTaskSandbox } from "../../../container/sandbox/task-sandbox.ts"
import { makeWorkspace } from "../../../container/sandbox/workspace.ts"
import { runnerSettings } from "../../support/runner-settings.ts"

/**
 * Runs a tool as a task does, under the user that this process has:
 *   hiding-run.ts TIER TOOL WORD WORKING_FOLDER
 * It prints how the tool ended, and after a byte on stdin removes the workspace.
 */
const [, , tier, tool = "", word = "", workDir = ""] = process.argv
const settings = runnerSettings({ WORKSPACE_BYTES_MAX: "10000000", WORKSPACE_FILES_MAX: "500" })
const taskSandbox = openTaskSandbox(describeSandbox(readTier(tier), settings))
const run = { taskId: crypto.randomUUID(), fence: 1 }
const cwd = await makeWorkspace(workDir, run, taskSandbox.uid)
const end = await startProcess({
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
await closeTaskSandbox(taskSandbox, cwd)
process.exit()

function readTier(text: string | undefined): Tier {
  return TIERS.find((tier) => tier === text) ?? "none"
}
