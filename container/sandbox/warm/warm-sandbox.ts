import { statSync } from "node:fs"
import type { FolderAccess, WarmSandbox, TaskSandbox, WaitingProcessKind } from "../sandbox.ts"
import { startHeldProcess } from "./held-process.ts"

/**
 * Tool for which a process waits in a sandbox that was created ahead of its task, and the access of
 * the tool to the workspace.
 */
export type WarmTool = { tool: string; access: FolderAccess }

/** Opens a warm sandbox in an empty workspace, and starts a waiting process for each tool. */
export function createWarmSandbox(
  taskSandbox: TaskSandbox,
  folder: string,
  tools: readonly WarmTool[],
  form: WaitingProcessKind,
): WarmSandbox {
  const inode = inodeOf(folder)
  const common = { taskSandbox, cwd: folder, argv: [], timeLimitMs: 0 }
  const all = tools.map((each) => startHeldProcess({ ...common, ...each }, form))
  const left = [...all]
  const discarded = Promise.withResolvers<void>()
  return {
    folder,
    ready: Promise.all(all.map(({ ready }) => ready)).then((each) => !each.includes(false)),
    isIntact: () => inode !== null && inodeOf(folder) === inode,
    take(launch) {
      const index = left.findIndex((each) => each.matches(launch))
      return index < 0 ? null : (left.splice(index, 1)[0] ?? null)
    },
    countStarted: () => all.filter((each) => each.hasStarted()).length,
    discarded: discarded.promise,
    async discard() {
      discarded.resolve()
      await Promise.all(left.splice(0).map((each) => each.discard()))
    },
  }
}

function inodeOf(folder: string): number | null {
  return statSync(folder, { throwIfNoEntry: false })?.ino ?? null
}
