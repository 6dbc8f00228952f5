import { lstat } from "node:fs/promises"
import { basename, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { log } from "../log.ts"
import { countProcesses } from "./count-processes.ts"
import { endLeftSandboxes } from "./left-processes.ts"
import { openPlace } from "./place.ts"
import type { PlacedTool } from "./place.ts"
import type { Place, Sandbox, TaskSandbox, WaitingForm } from "./sandbox.ts"
import { removeTree } from "./remove-tree.ts"
import { findLeftWorkspaces, makeWorkspace } from "./workspace.ts"

/** Another process reaps the processes that a tool leaves, and the task that follows comes first. */
const FIRST_COUNT_MS = 2000
const RETRY_MS_MIN = 500
const RETRY_MS_MAX = 60_000

/** How many tasks and workspaces there are of a user id. */
const holdsByUid = new Map<number, number>()

/** Opens the sandbox of one task, with a user id that nothing else has until it is released. */
export function openTaskSandbox(
  sandbox: Sandbox,
  workspaceBytes = sandbox.limits.workspaceBytes,
): TaskSandbox {
  if (sandbox.firstUid === null) return { sandbox, uid: null, workspaceBytes }
  // The first is reserved for the runner's own use of tools.
  let uid = sandbox.firstUid + 1
  while (holdsByUid.has(uid)) uid += 1
  hold(uid)
  return { sandbox, uid, workspaceBytes }
}

/** Opens the sandbox of a task to come, with an empty workspace where sandboxes wait for tools. */
export async function prepareTaskSandbox(
  sandbox: Sandbox,
  workDir: string,
  tools: readonly PlacedTool[],
  form: WaitingForm,
): Promise<TaskSandbox & { place: Place }> {
  const opened = openTaskSandbox(sandbox)
  const run = { taskId: crypto.randomUUID(), fence: 0 }
  try {
    const folder = await makeWorkspace(workDir, run, opened.uid)
    return { ...opened, place: openPlace(opened, folder, tools, form) }
  } catch (error) {
    void release(opened.uid, null)
    throw error
  }
}

/**
 * Removes the workspace of a task, if it has one, and ends what waits there. What cannot be removed
 * is set aside, and tried again. The user id is released when the workspace and all processes of that
 * user are gone.
 */
export async function closeTaskSandbox(
  { uid, place }: TaskSandbox,
  workspace: string | null,
): Promise<void> {
  const givenUp = place?.giveUp()
  const folder = workspace ?? place?.folder ?? null
  const isRemoved = folder === null || (await tryRemoving(folder))
  void release(uid, isRemoved ? null : folder, folder === null ? undefined : rest(givenUp))
}

/** Releases the user id of a sandbox in which nothing was started, of which nothing can be left. */
export function dropTaskSandbox({ uid }: TaskSandbox): void {
  letGo(uid)
}

/**
 * Removes the workspaces that an earlier process left in the work folder, with the sandboxes that are
 * still in them, and nothing else. It resolves when their user ids are held; the removal goes on, and
 * no workspace stops it.
 */
export async function removeLeftWorkspaces(workDir: string): Promise<void> {
  const left: { path: string; uid: number }[] = []
  const names = await findLeftWorkspaces(workDir)
  if (names.length > 0) endLeftSandboxes(workDir)
  for (const name of names) {
    const path = join(workDir, name)
    // A workspace may be gone by then.
    const stats = await lstat(path).catch(() => null)
    if (stats === null) continue
    hold(stats.uid)
    left.push({ path, uid: stats.uid })
  }
  void removeAll(left)
}

async function removeAll(left: readonly { path: string; uid: number }[]): Promise<void> {
  for (const { path, uid } of left) {
    const isRemoved = await tryRemoving(path)
    if (isRemoved) log("info", "workspace.removed", { name: basename(path) })
    void release(uid, isRemoved ? null : path)
  }
}

function hold(uid: number): void {
  holdsByUid.set(uid, (holdsByUid.get(uid) ?? 0) + 1)
}

/** Lets others have a user id once it has neither this workspace nor processes. */
async function release(
  uid: number | null,
  workspace: string | null,
  rested?: Promise<void>,
): Promise<void> {
  await rested
  let left = workspace
  let delayMs = RETRY_MS_MIN
  while (left !== null || (await countProcesses(uid)) > 0) {
    await sleep(delayMs, undefined, { ref: false })
    delayMs = Math.min(RETRY_MS_MAX, delayMs * 2)
    if (left !== null && (await tryRemoving(left))) {
      log("info", "workspace.removed", { name: basename(left) })
      left = null
    }
  }
  letGo(uid)
}

function letGo(uid: number | null): void {
  if (uid === null) return
  const holds = (holdsByUid.get(uid) ?? 0) - 1
  if (holds > 0) holdsByUid.set(uid, holds)
  else holdsByUid.delete(uid)
}

async function rest(givenUp: Promise<void> | undefined): Promise<void> {
  await givenUp
  await sleep(FIRST_COUNT_MS, undefined, { ref: false })
}

async function tryRemoving(workspace: string): Promise<boolean> {
  try {
    await removeTree(workspace)
    return true
  } catch (error) {
    log("error", "workspace.left", { name: basename(workspace), error: String(error) })
    return false
  }
}
