import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { chown, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { promisify } from "node:util"
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest"
import { createTierSandbox } from "../../../container/sandbox/tiers/choose-sandbox.ts"
import {
  destroyTaskSandbox,
  countUserProcesses,
  releaseUnusedTaskSandbox,
  createTaskSandbox,
  removeAbandonedWorkspaces,
} from "../../../container/sandbox/task-sandbox.ts"
import { findProgram } from "../../../container/sandbox/system-paths.ts"
import { setImmovable } from "./tiers/obstacles.ts"
import { makeTestRunnerSettings } from "../../support/runner/runner-settings.ts"
import { findTierWithNamespaces } from "../../support/runner/supported-tiers.ts"

const PATIENT = { timeout: 60_000, interval: 100 }
const isRoot = process.getuid?.() === 0
const sandbox = createTierSandbox("landlock", makeTestRunnerSettings())

let workDir: string
let workspace: string

beforeEach(async () => {
  workDir = await mkdtemp(join(tmpdir(), "lathe-left-"))
  workspace = join(workDir, `${crypto.randomUUID()}.1`)
  await mkdir(workspace, { mode: 0o700 })
})

afterEach(() => promisify(execFile)("rm", ["-rf", workDir]))

/**
 * Makes a file that cannot be removed until the returned function is called; null if unsupported.
 */
async function holdBack(folder: string): Promise<(() => Promise<unknown>) | null> {
  const path = join(folder, "immovable")
  await writeFile(path, "")
  if (!(await setImmovable(path, true))) return null
  async function free(): Promise<void> {
    await setImmovable(path, false)
  }
  onTestFinished(free)
  return free
}

test("a workspace that cannot be removed keeps its user id, and its removal is retried", async ({
  skip,
}) => {
  skip(!isRoot, "only root gives users to tools")
  const free = await holdBack(workspace)
  if (!free) return skip("this file system has no immovable files")
  const first = createTaskSandbox(sandbox)
  await destroyTaskSandbox(first, workspace)
  const second = createTaskSandbox(sandbox)
  expect(second.uid).toBe((first.uid ?? 0) + 1)
  await free()
  await expect.poll(() => readdir(workDir), PATIENT).toEqual([])
  await expect.poll(() => reopen(second.uid), PATIENT).toBe(first.uid)
  releaseUnusedTaskSandbox(second)
})

test("a user id with a surviving process goes to no other task", async ({ skip }) => {
  if (!isRoot) return skip("only root gives users to tools")
  const first = createTaskSandbox(sandbox)
  const uid = first.uid ?? 0
  const survivor = spawn("sleep", ["60"], { uid, gid: uid, stdio: "ignore" })
  await once(survivor, "spawn")
  await destroyTaskSandbox(first, workspace)
  expect(await readdir(workDir)).toEqual([])
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const second = createTaskSandbox(sandbox)
  expect(second.uid).toBe(uid + 1)
  survivor.kill("SIGKILL")
  await expect.poll(() => reopen(second.uid), PATIENT).toBe(uid)
  releaseUnusedTaskSandbox(second)
})

test("counts of several users are batched, and each user gets its own", async ({ skip }) => {
  if (!isRoot) return skip("only root looks at other users")
  const uid = (sandbox.firstUid ?? 0) + 300
  const survivor = spawn("sleep", ["60"], { uid, gid: uid, stdio: "ignore" })
  await once(survivor, "spawn")
  const asked = [uid + 1, uid, uid + 2, uid].map(countUserProcesses)
  expect(await Promise.all(asked)).toEqual([0, 1, 0, 1])
  survivor.kill("SIGKILL")
})

test("user ids of leftover workspaces go to no task before their removal", async ({ skip }) => {
  skip(!isRoot, "only root gives users to tools")
  const free = await holdBack(workspace)
  if (!free) return skip("this file system has no immovable files")
  const uid = (sandbox.firstUid ?? 0) + 1
  await chown(workspace, uid, uid)
  await mkdir(join(workDir, `${crypto.randomUUID()}.2`))
  await removeAbandonedWorkspaces(workDir)
  const opened = createTaskSandbox(sandbox)
  expect(opened.uid).toBe(uid + 1)
  await free()
  await expect.poll(() => readdir(workDir), PATIENT).toEqual([])
  await expect.poll(() => reopen(opened.uid), PATIENT).toBe(uid)
  releaseUnusedTaskSandbox(opened)
})

test("leftover sandboxes of a killed runner end with their workspace", async ({ skip }) => {
  skip((await findTierWithNamespaces()) === undefined, "this machine does not support namespaces")
  const other = join(await mkdtemp(join(tmpdir(), "lathe-other-")), basename(workspace))
  await mkdir(other)
  const [left, kept] = await Promise.all([startOrphan(workspace), startOrphan(other)])
  await removeAbandonedWorkspaces(workDir)
  await expect.poll(() => readdir(workDir), PATIENT).toEqual([])
  await expect.poll(() => existsSync(`/proc/${left}`), PATIENT).toBe(false)
  expect(existsSync(`/proc/${kept}`)).toBe(true)
  process.kill(kept, "SIGKILL")
  await rm(dirname(other), { recursive: true })
})

/** Starts a sandbox in a folder and kills its outer process; returns the pid of the inner one. */
async function startOrphan(folder: string): Promise<number> {
  const within = ["--unshare-pid", "--bind", "/", "/", "--chdir", folder, "--", "sleep", "60"]
  const outer = spawn(findProgram("bwrap"), within, { stdio: "ignore" })
  await once(outer, "spawn")
  const children = `/proc/${outer.pid}/task/${outer.pid}/children`
  const pid = await vi.waitUntil(() => Number(readFileSync(children, "utf8").trim()), PATIENT)
  // The inner process is a copy of its outer process until it becomes the tool.
  await vi.waitUntil(() => existsSync(`/proc/${pid}/task/${pid}/children`), PATIENT)
  outer.kill("SIGKILL")
  await once(outer, "exit")
  return pid
}

/** Returns the user id that the next task would get, and releases it. */
function reopen(held: number | null): number | null {
  const opened = createTaskSandbox(sandbox)
  if (opened.uid === held) throw new Error("A user was given twice.")
  releaseUnusedTaskSandbox(opened)
  return opened.uid
}
