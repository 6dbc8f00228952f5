import type { TaskOrder } from "../../../src/contract/task.ts"
import type { TaskSandbox } from "../../sandbox/sandbox.ts"
import type { RunnerSettings } from "../../settings.ts"

/** What yt-dlp runs with: the settings, the state and the workspace of a task's run. */
export type PageContext = {
  order: Pick<TaskOrder, "secrets">
  settings: Pick<RunnerSettings, "egress" | "fetchCookies" | "toolPaths" | "workDir">
  status: { processingMs: number }
  workspace: string
  taskSandbox: TaskSandbox
  signal: AbortSignal
}
