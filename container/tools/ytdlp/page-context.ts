import type { TaskOrder } from "../../../src/contract/task.ts"
import type { TaskSandbox } from "../../sandbox/sandbox.ts"
import type { RunnerSettings } from "../../settings.ts"

/** Values of a task's run that are needed to read or download a web page's video by yt-dlp. */
export type PageQueryContext = {
  order: Pick<TaskOrder, "secrets">
  settings: Pick<RunnerSettings, "egress" | "fetchCookies" | "toolPaths" | "workDir">
  status: { processingMs: number }
  workspace: string
  taskSandbox: TaskSandbox
  signal: AbortSignal
}
