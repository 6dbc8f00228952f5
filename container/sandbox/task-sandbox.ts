import { lstat } from "node:fs/promises"
import { basename, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { log } from "../log.ts"
import { createWarmSandbox } from "./warm/warm-sandbox.ts"
import type { WarmTool } from "./warm/warm-sandbox.ts"
import type { WarmSandbox, Sandbox, TaskSandbox, WaitingProcessKind } from "./sandbox.ts"
import { removeTree } from "./remove-tree.ts"
import { findAbandonedWorkspaces, createWorkspace, isWorkspacePath } from "./workspace.ts"
import { readdirSync, readFileSync, realpathSync } from "node:fs"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { LAUNCHER_PROGRAMS } from "./launcher-programs.ts"

/**
 * Delay after the end of a task before the remaining processes of its user are counted, in
 * milliseconds. During the delay, init reaps orphaned processes, and the next task can start
 * without disturbance.
 */
const FIRST_COUNT_MS = 2000
const RETRY_MS_MIN = 500
const RETRY_MS_MAX = 60_000

/** Number of open sandboxes and abandoned workspaces that use a user id, by the user id. */
const holdsByUid = new Map<number, number>()

/**
 * Creates the sandbox of one task, with a user id that no other task gets until the id is released.
 */
export function createTaskSandbox(
  sandbox: Sandbox,
  workspaceBytes = sandbox.limits.workspaceBytes,
): TaskSandbox {
  if (sandbox.firstUid === null) return { sandbox, uid: null, workspaceBytes }
  // Skips the first user id, which is reserved for tools that the runner starts for its own
  // purposes.
  let uid = sandbox.firstUid + 1
  while (holdsByUid.has(uid)) uid += 1
  reserveUid(uid)
  return { sandbox, uid, workspaceBytes }
}

/**
 * Opens the sandbox of a future task with an empty workspace, in which processes already wait for
 * the order to run a tool (warm sandbox).
 */
export async function createWarmTaskSandbox(
  sandbox: Sandbox,
  workDir: string,
  tools: readonly WarmTool[],
  form: WaitingProcessKind,
): Promise<TaskSandbox & { warmSandbox: WarmSandbox }> {
  const opened = createTaskSandbox(sandbox)
  const run = { taskId: crypto.randomUUID(), fence: 0 }
  try {
    const folder = await createWorkspace(workDir, run, opened.uid)
    return { ...opened, warmSandbox: createWarmSandbox(opened, folder, tools, form) }
  } catch (error) {
    void release(opened.uid, null)
    throw error
  }
}

/**
 * Closes the sandbox of a task: kills the processes that still wait for a launch order, and removes
 * the workspace. Repeats a failed removal in the background. The user id is released when the
 * workspace and all processes of that user are gone.
 */
export async function destroyTaskSandbox(
  { uid, warmSandbox }: TaskSandbox,
  workspace: string | null,
): Promise<void> {
  const discarded = warmSandbox?.discard()
  const folder = workspace ?? warmSandbox?.folder ?? null
  const isRemoved = folder === null || (await tryRemoving(folder))
  void release(uid, isRemoved ? null : folder, folder === null ? undefined : waitForExit(discarded))
}

/** Releases the user id of a sandbox that has no workspace and in which no process was started. */
export function releaseUnusedTaskSandbox({ uid }: TaskSandbox): void {
  releaseUid(uid)
}

/**
 * Removes the workspaces that an earlier runner process left in the work folder, and kills the
 * sandboxes that still run there. Resolves when the user ids of these workspaces are reserved. The
 * removal continues in the background and is repeated after an error.
 */
export async function removeAbandonedWorkspaces(workDir: string): Promise<void> {
  const left: { path: string; uid: number }[] = []
  const names = await findAbandonedWorkspaces(workDir)
  if (names.length > 0) killAbandonedSandboxes(workDir)
  for (const name of names) {
    const path = join(workDir, name)
    // Ignores a workspace that another process has removed meanwhile.
    const stats = await lstat(path).catch(() => null)
    if (stats === null) continue
    reserveUid(stats.uid)
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

function reserveUid(uid: number): void {
  holdsByUid.set(uid, (holdsByUid.get(uid) ?? 0) + 1)
}

/**
 * Releases a user id when the workspace of that user is removed and all processes of that user have
 * ended.
 */
async function release(
  uid: number | null,
  workspace: string | null,
  rested?: Promise<void>,
): Promise<void> {
  await rested
  let left = workspace
  let delayMs = RETRY_MS_MIN
  while (left !== null || (await countUserProcesses(uid)) > 0) {
    await sleep(delayMs, undefined, { ref: false })
    delayMs = Math.min(RETRY_MS_MAX, delayMs * 2)
    if (left !== null && (await tryRemoving(left))) {
      log("info", "workspace.removed", { name: basename(left) })
      left = null
    }
  }
  releaseUid(uid)
}

function releaseUid(uid: number | null): void {
  if (uid === null) return
  const holds = (holdsByUid.get(uid) ?? 0) - 1
  if (holds > 0) holdsByUid.set(uid, holds)
  else holdsByUid.delete(uid)
}

async function waitForExit(discarded: Promise<void> | undefined): Promise<void> {
  await discarded
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

/**
 * Kills the bubblewrap processes that an earlier runner process left in the workspaces of a work
 * folder. If bubblewrap is killed while it sets up a sandbox, its child process waits forever and
 * keeps the task's user id in use.
 */
function killAbandonedSandboxes(workDir: string): void {
  if (process.platform !== "linux") return
  const root = realpathSync(workDir)
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const [program = "", ...words] = wordsOf(pid)
    if (basename(program) !== "bwrap" || !words.some((word) => isWorkspacePath(root, word)))
      continue
    log("info", "sandbox.ended", { pid: Number(pid) })
    try {
      process.kill(Number(pid), "SIGKILL")
    } catch {
      // Ignores the error of kill(), which means that the process has ended meanwhile.
    }
  }
}

/** Returns the words of a process's command line; an empty list if the process has ended. */
function wordsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
  } catch {
    return []
  }
}

/**
 * Time for which requests to count a user's processes are collected, in milliseconds. A single
 * start of the launcher then answers all of them, since its start takes longer than the counting.
 */
const BATCH_DELAY_MS = 1000
const USERS_MAX = 500

/** Callbacks that wait for the next count of processes, by user id. */
let waiting = new Map<number, ((count: number) => void)[]>()

/**
 * Returns the number of processes and threads of a user, as the kernel counts them; Infinity if the
 * count fails.
 */
export function countUserProcesses(uid: number | null): Promise<number> {
  // Returns 0 if the runner is not root. Tools then run as the runner's own user, so that no user
  // id has to be released.
  if (uid === null || uid === 0 || process.getuid?.() !== 0) return Promise.resolve(0)
  const { promise, resolve } = Promise.withResolvers<number>()
  if (waiting.size === 0) void countSoon()
  waiting.set(uid, [...(waiting.get(uid) ?? []), resolve])
  return promise
}

async function countSoon(): Promise<void> {
  await sleep(BATCH_DELAY_MS, undefined, { ref: false })
  const requests = [...waiting]
  waiting = new Map()
  for (let start = 0; start < requests.length; start += USERS_MAX) {
    const batch = requests.slice(start, start + USERS_MAX)
    const counts = await countOf(batch.map(([uid]) => uid))
    for (const [index, [uid, resolves]] of batch.entries()) {
      const count = counts[index] ?? Number.POSITIVE_INFINITY
      if (count > 0 && Number.isFinite(count)) log("warn", "user.busy", { uid, processes: count })
      for (const resolve of resolves) resolve(count)
    }
  }
}

/**
 * Returns the number of processes of each user, in the order of the user ids; an empty list if the
 * count fails.
 */
async function countOf(uids: readonly number[]): Promise<number[]> {
  try {
    const words = ["--count", "--", ...uids.map(String)]
    const { stdout } = await promisify(execFile)(LAUNCHER_PROGRAMS.launcher, words)
    const lines = stdout.trimEnd().split("\n")
    if (lines.length !== uids.length) throw new Error("Not all users were counted.")
    return lines.map((line) => (/^\d+$/.test(line) ? Number(line) : Number.POSITIVE_INFINITY))
  } catch (error) {
    log("warn", "user.busy", { error: String(error) })
    return []
  }
}
