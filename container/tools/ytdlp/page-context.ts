import type { TaskOrder } from "../../../src/contract/task.ts"
import type { TaskSandbox } from "../../sandbox/sandbox.ts"
import type { RunnerSettings } from "../../settings.ts"

/** Part of a run's context that a query of a web page needs. */
export type PageQueryContext = {
  order: Pick<TaskOrder, "secrets">
  settings: Pick<RunnerSettings, "egress" | "fetchCookies" | "toolPaths" | "workDir">
  status: { processingMs: number }
  workspace: string
  taskSandbox: TaskSandbox
  signal: AbortSignal
}
