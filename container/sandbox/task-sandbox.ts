import { lstat } from "node:fs/promises"
import { basename, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { log } from "../log.ts"
import { openWarmSandbox } from "./warm/warm-sandbox.ts"
import type { WarmTool } from "./warm/warm-sandbox.ts"
import type { WarmSandbox, Sandbox, TaskSandbox, HeldProcessKind } from "./sandbox.ts"
import { removeTree } from "./remove-tree.ts"
import { findAbandonedWorkspaces, createWorkspace, isWorkspacePath } from "./workspace.ts"
import { readdirSync, readFileSync, realpathSync } from "node:fs"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { LAUNCHER_PROGRAMS } from "./launcher-programs.ts"

/**
 * Delay before the processes of a user are counted, in milliseconds. Meanwhile init reaps orphaned
 * processes, and the next task can start undisturbed.
 */
const FIRST_COUNT_MS = 2000
const RETRY_MS_MIN = 500
const RETRY_MS_MAX = 60_000

/** Number of open sandboxes and abandoned workspaces that use each user id. */
const holdsByUid = new Map<number, number>()

/** Opens the sandbox of one task, with a user id that no other task gets until it is released. */
export function openTaskSandbox(
  sandbox: Sandbox,
  workspaceBytes = sandbox.limits.workspaceBytes,
): TaskSandbox {
  if (sandbox.firstUid === null) return { sandbox, uid: null, workspaceBytes }
  // The first id is reserved for tools that the runner starts for itself.
  let uid = sandbox.firstUid + 1
  while (holdsByUid.has(uid)) uid += 1
  reserveUid(uid)
  return { sandbox, uid, workspaceBytes }
}

/**
 * Opens the sandbox of a future task with a warm sandbox: an empty workspace in which processes
 * wait for launch orders.
 */
export async function openWarmTaskSandbox(
  sandbox: Sandbox,
  workDir: string,
  tools: readonly WarmTool[],
  form: HeldProcessKind,
): Promise<TaskSandbox & { warmSandbox: WarmSandbox }> {
  const opened = openTaskSandbox(sandbox)
  const run = { taskId: crypto.randomUUID(), fence: 0 }
  try {
    const folder = await createWorkspace(workDir, run, opened.uid)
    return { ...opened, warmSandbox: openWarmSandbox(opened, folder, tools, form) }
  } catch (error) {
    void release(opened.uid, null)
    throw error
  }
}

/**
 * Closes the sandbox of a task: kills the processes that still wait for an order, and removes the
 * workspace. Repeats a failed removal in the background. The user id is released when the workspace
 * and all processes of that user are gone.
 */
export async function closeTaskSandbox(
  { uid, warmSandbox }: TaskSandbox,
  workspace: string | null,
): Promise<void> {
  const discarded = warmSandbox?.discard()
  const folder = workspace ?? warmSandbox?.folder ?? null
  const isRemoved = folder === null || (await tryRemoving(folder))
  void release(uid, isRemoved ? null : folder, folder === null ? undefined : waitForExit(discarded))
}

/** Releases the user id of a sandbox in which nothing was started and which has no workspace. */
export function releaseUnusedTaskSandbox({ uid }: TaskSandbox): void {
  releaseUid(uid)
}

/**
 * Removes the workspaces that an earlier runner process left in the work folder, and kills their
 * sandboxes. Resolves when the user ids of these workspaces are reserved. The removal continues in
 * the background, and is repeated after an error.
 */
export async function removeAbandonedWorkspaces(workDir: string): Promise<void> {
  const left: { path: string; uid: number }[] = []
  const names = await findAbandonedWorkspaces(workDir)
  if (names.length > 0) killAbandonedSandboxes(workDir)
  for (const name of names) {
    const path = join(workDir, name)
    // Another process may have removed the workspace meanwhile.
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

/** Releases a user id once its workspace is removed and its processes have ended. */
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
 * Kills the bubblewrap processes that an earlier runner left in workspaces of a work folder. A
 * bwrap that is killed during its setup, together with its runner, leaves a child that waits
 * forever and keeps the user id of its task in use.
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
      // Ignores the error: the process has ended meanwhile.
    }
  }
}

/** Returns the command line of a process; an empty list if the process has ended. */
function wordsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
  } catch {
    return []
  }
}

/**
 * Delay in which counts for several users are gathered into one call of the launcher, since the
 * start of a process takes longer than the counts.
 */
const BATCH_DELAY_MS = 1000
const USERS_MAX = 500

/** Callbacks for the next count, by user id. */
let waiting = new Map<number, ((count: number) => void)[]>()

/**
 * Returns the number of processes and threads of a user, as the kernel counts them; Infinity if the
 * count fails.
 */
export function countUserProcesses(uid: number | null): Promise<number> {
  // Returns 0 if the runner is not root: then tools run as its own user and no user id is in use.
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

/** Returns the number of processes of each user; an empty list if the count fails. */
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
