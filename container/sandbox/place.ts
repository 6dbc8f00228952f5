import { statSync } from "node:fs"
import type { FolderAccess, Place, TaskSandbox, WaitingForm } from "./sandbox.ts"
import { startWaiting } from "./waiting.ts"

/** A tool that a place has a sandbox for. */
export type PlacedTool = { tool: string; access: FolderAccess }

/** Opens a place in an empty workspace. */
export function openPlace(
  taskSandbox: TaskSandbox,
  folder: string,
  tools: readonly PlacedTool[],
  form: WaitingForm,
): Place {
  const inode = inodeOf(folder)
  const common = { taskSandbox, cwd: folder, argv: [], timeLimitMs: 0 }
  const all = tools.map((each) => startWaiting({ ...common, ...each }, form))
  const left = [...all]
  const over = Promise.withResolvers<void>()
  return {
    folder,
    ready: Promise.all(all.map(({ ready }) => ready)).then((each) => !each.includes(false)),
    isIntact: () => inode !== null && inodeOf(folder) === inode,
    take(launch) {
      const index = left.findIndex((each) => each.serves(launch))
      return index < 0 ? null : (left.splice(index, 1)[0] ?? null)
    },
    countBegun: () => all.filter((each) => each.hasBegun()).length,
    over: over.promise,
    async giveUp() {
      over.resolve()
      await Promise.all(left.splice(0).map((each) => each.giveUp()))
    },
  }
}

function inodeOf(folder: string): number | null {
  return statSync(folder, { throwIfNoEntry: false })?.ino ?? null
}
