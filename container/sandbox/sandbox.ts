import type { ChildProcess } from "node:child_process"
import { availableParallelism } from "node:os"
import type { ToolLimits } from "../settings.ts"
import type { WorkspaceMeter } from "./workspace-meter.ts"
import {
  findProgram,
  isReachableByAllUsers,
  listSymbolicLinkChain,
  removeNestedPaths,
} from "./system-paths.ts"
import type { SystemPaths } from "./system-paths.ts"
import { usesNamespaces } from "./tiers/tier.ts"
import type { SandboxTier } from "./tiers/tier.ts"

/** Configuration of the sandbox that the runner uses for all its tools. */
export type Sandbox = {
  tier: SandboxTier
  launcherPath: string
  /**
   * Path of the library that is preloaded into a tool and stops the tool before its `main()` until
   * a launch order (arguments and limits) arrives: see container/launcher/hold.c.
   */
  holdPath: string
  bubblewrapPath: string
  paths: SystemPaths
  limits: ToolLimits
  /** Reason why tools cannot have a network, as a sentence; null if tools can have a network. */
  networkProblem: string | null
  /**
   * First user id of the range that is reserved for tools; null if the runner is not root. Without
   * root, tools run as the runner's own user.
   */
  firstUid: number | null
}

/** Access of a tool to its working folder, which is usually the workspace. */
export type FolderAccess = "write" | "read" | "none"

/**
 * Sandbox of one task. No other task uses the sandbox's user id while the sandbox is open. The
 * tools of the task may write `workspaceBytes` bytes, which is less than the general limit if disk
 * space is short.
 */
export type TaskSandbox = {
  sandbox: Sandbox
  uid: number | null
  workspaceBytes: number
  /**
   * Workspace and waiting processes that were created before the task arrived; absent if the
   * workspace is created when the task starts.
   */
  warmSandbox?: WarmSandbox | undefined
}

/**
 * Rights of a tool in addition to the access to its workspace. By default, a tool has none of these
 * rights.
 */
export type ToolGrants = {
  /**
   * Path of a UNIX socket that receives all TCP connections of the tool and its child processes,
   * regardless of the address. If not set, the tool cannot open sockets.
   */
  network?: string | undefined
  /**
   * Whether the tool may start child processes. Child processes are ended together with the tool.
   */
  mayFork?: boolean | undefined
  /** Programs that the tool may execute, by path or name, and folders of such programs. */
  run?: readonly string[] | undefined
  /** Files and folders that the tool may read, in addition to system libraries. */
  read?: readonly string[] | undefined
  /**
   * Limit of address space for each process of the tool, in bytes. This limit replaces the general
   * limit for tools.
   */
  memoryBytes?: number | undefined
}

/** Options for the start of a tool in the sandbox of its task. */
export type ToolLaunch = ToolGrants & {
  taskSandbox: TaskSandbox
  tool: string
  argv: readonly string[]
  /** Working folder of the tool, usually the workspace. */
  cwd: string
  access: FolderAccess
  timeLimitMs: number
  /** File descriptor that the tool inherits in addition to stdin, stdout and stderr. */
  keptFd?: number | undefined
}

/**
 * Kind of a process that waits in a sandbox for a launch order, which contains the arguments and
 * limits of a tool. `launcher`: the launcher program, which executes the tool when the order
 * arrives. `tool`: the tool itself, with all its libraries loaded, stopped before its `main()`.
 */
export type WaitingProcessKind = "launcher" | "tool"

/** Process that waits in a sandbox for the launch order of one tool. */
export type HeldProcess = {
  child: ChildProcess
  /**
   * Meter of the workspace's disk usage; null if the tool cannot write to the workspace. The sender
   * of the launch order must close the meter.
   */
  meter: WorkspaceMeter | null
  /**
   * Resolves with true when the process waits for its launch order, or with false if the process
   * has ended.
   */
  ready: Promise<boolean>
  /**
   * Reports whether the process can be used for this launch: it must still wait, and its sandbox
   * must equal the sandbox that a new process would get.
   */
  matches(launch: ToolLaunch): boolean
  /** Sends the launch order to the process. Must be called at most once. */
  sendOrder(order: Buffer): void
  /**
   * Reports whether the launcher has applied all restrictions successfully and the tool has
   * started.
   */
  hasStarted(): boolean
  /** Kills a process that has received no launch order. Resolves when the process has ended. */
  discard(): Promise<void>
}

/** Workspace that was created before its task, with processes that wait in it for launch orders. */
export type WarmSandbox = {
  folder: string
  /**
   * Resolves with true when all processes of the warm sandbox wait for their launch orders, or with
   * false if a process has ended.
   */
  ready: Promise<boolean>
  /** Reports whether the workspace folder still exists and was not replaced by another folder. */
  isIntact(): boolean
  /**
   * Takes an unused process that matches this launch out of the warm sandbox. Returns null if there
   * is none.
   */
  take(launch: ToolLaunch): HeldProcess | null
  /** Returns the number of processes whose tool has started. */
  countStarted(): number
  /** Kills the unused processes of the warm sandbox. Resolves when these processes have ended. */
  discard(): Promise<void>
  /** Resolves when `discard` is called at the end of the task. */
  discarded: Promise<void>
}

const DEVICES = ["/dev/null", "/dev/urandom"]

/**
 * File descriptor on which the launcher reports that it waits for a launch order, and later that
 * its tool starts: see container/launcher/launcher.h.
 */
export const LAUNCHER_REPORT_FD = 3

/**
 * File descriptor through which the launcher inside the namespaces of bubblewrap reaches the
 * broker, a process outside the namespaces that opens connections for the tool.
 */
const CHANNEL_FD = 4

/**
 * Returns the sandbox for tools that the runner starts outside a task, such as to read the version
 * of ffmpeg.
 */
export function createSandboxWithoutTask(sandbox: Sandbox): TaskSandbox {
  return { sandbox, uid: sandbox.firstUid, workspaceBytes: sandbox.limits.workspaceBytes }
}

/** Returns the command line that starts a tool in a sandbox. */
export function toolLaunchArgv(launch: ToolLaunch): [string, ...string[]] {
  const { tier } = launch.taskSandbox.sandbox
  if (usesNamespaces(tier)) return namespacesArgv(launch)
  if (tier === "landlock") return landlockArgv(launch)
  return [launch.tool, ...launch.argv]
}

/**
 * Returns the command line that starts a process in the sandbox for `launch`. The process then
 * waits for its launch order.
 */
export function heldProcessArgv(
  launch: ToolLaunch,
  form: WaitingProcessKind,
): [string, ...string[]] {
  const outer = outerArgv({ ...launch, keptFd: LAUNCHER_REPORT_FD }, form)
  if (form === "tool") return [...outer, findProgram(launch.tool)]
  return [...outer, launch.taskSandbox.sandbox.launcherPath, "--wait"]
}

/**
 * Returns the command line that creates the same namespaces as for a tool, and runs `launcher
 * --probe` in these namespaces, to test whether they can be created.
 */
export function namespaceProbeArgv(sandbox: Sandbox): [string, ...string[]] {
  const { launcherPath: tool } = sandbox
  const taskSandbox = createSandboxWithoutTask(sandbox)
  const nothing = { argv: [], cwd: "/", access: "none", timeLimitMs: 0 } as const
  return [...outerArgv({ taskSandbox, tool, ...nothing }), tool, "--probe"]
}

/**
 * Returns the arguments of the launch order for a waiting process. The stdout of the tool is
 * discarded unless `hasStdout` is true.
 */
export function buildLaunchOrderArgv(launch: ToolLaunch, hasStdout: boolean): string[] {
  return [...(hasStdout ? [] : ["--no-stdout"]), ...innerArgv(launch)]
}

/**
 * Returns the limit of a tool's CPU time in seconds. By default, a tool may use all cores for its
 * whole time limit.
 */
export function computeCpuLimitSeconds({ cpuSeconds }: ToolLimits, timeLimitMs: number): number {
  return cpuSeconds ?? Math.ceil((timeLimitMs / 1000) * availableParallelism()) + 1
}

/**
 * Returns the error line that the launcher or bubblewrap printed because it could not start the
 * tool; null if the tool has run.
 */
export function readSandboxStartFailure(exitCode: number | null, stderr: string): string | null {
  if (exitCode === 126) return /^launcher: .*$/m.exec(stderr)?.[0] ?? null
  return exitCode === 1 ? (/^bwrap: .*$/m.exec(stderr)?.[0] ?? null) : null
}

function landlockArgv(launch: ToolLaunch): [string, ...string[]] {
  const { sandbox } = launch.taskSandbox
  return [
    sandbox.launcherPath,
    ...uidArgv(launch),
    ...(grantedPaths(launch).every(isReachableByAllUsers) ? [] : reachArgv(launch)),
    ...connectArgv(launch),
    ...innerArgv(launch),
  ]
}

function namespacesArgv(launch: ToolLaunch): [string, ...string[]] {
  const { launcherPath } = launch.taskSandbox.sandbox
  return [...outerArgv(launch), launcherPath, ...channelArgv(launch), ...innerArgv(launch)]
}

/**
 * Returns the command line that creates the namespaces of a tool, without the program to start in
 * the namespaces.
 */
function outerArgv(
  launch: ToolLaunch,
  form: WaitingProcessKind = "launcher",
): [string, ...string[]] {
  const { sandbox } = launch.taskSandbox
  return [
    sandbox.launcherPath,
    "--outer",
    ...uidArgv(launch),
    ...reachArgv(launch, form),
    ...keptFdArgv(launch),
    ...connectArgv(launch),
    ...channelArgv(launch),
    "--",
    sandbox.bubblewrapPath,
    // Sets no environment variables, because the outer launcher has already set the environment.
    ..."--unshare-all --die-with-parent --cap-drop ALL".split(" "),
    ...(form === "tool" ? ["--setenv", "LD_PRELOAD", sandbox.holdPath] : []),
    ...rootArgv(launch, form),
    "--",
  ]
}

/**
 * Returns the launcher options that make the paths of a launch accessible to the tool's user, even
 * below a folder that other users may not enter, such as /root. bubblewrap and the tool run as the
 * tool's user and access files by path.
 */
function reachArgv(launch: ToolLaunch, form: WaitingProcessKind = "launcher"): string[] {
  if (launch.taskSandbox.uid === null) return []
  const paths = launch.access === "none" ? [] : [launch.cwd]
  return [...listPathsVisibleToTool(launch, form), ...paths].flatMap((path) => ["--reach", path])
}

/**
 * Returns the options of bubblewrap for a root file system that contains only the paths that the
 * tool may access.
 */
function rootArgv(launch: ToolLaunch, form: WaitingProcessKind): string[] {
  const { cwd, access } = launch
  const { links } = launch.taskSandbox.sandbox.paths
  return [
    ...listPathsVisibleToTool(launch, form).flatMap((path) => ["--ro-bind", path, path]),
    ...links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...DEVICES.flatMap((path) => ["--dev-bind", path, path]),
    ...(access === "none" ? [] : [access === "write" ? "--bind" : "--ro-bind", cwd, cwd]),
    "--remount-ro",
    "/",
    "--chdir",
    cwd,
  ]
}

/** Returns the paths that a tool can access besides its workspace. */
export function listPathsVisibleToTool(launch: ToolLaunch, form: WaitingProcessKind): string[] {
  const { paths, launcherPath, holdPath } = launch.taskSandbox.sandbox
  const starter = form === "tool" ? holdPath : launcherPath
  return removeNestedPaths([...paths.read, ...paths.loaders, starter, ...grantedPaths(launch)])
}

/**
 * Returns the path of the tool and the paths that are granted to the tool, including all symbolic
 * links that lead to these paths.
 */
function grantedPaths(launch: ToolLaunch): string[] {
  return [findProgram(launch.tool), ...readPaths(launch), ...runPaths(launch)].flatMap(
    listSymbolicLinkChain,
  )
}

function readPaths({ taskSandbox, read = [], network }: ToolLaunch): readonly string[] {
  return network === undefined ? read : [...taskSandbox.sandbox.paths.tls, ...read]
}

function runPaths({ run = [] }: ToolLaunch): string[] {
  return run.map(findProgram)
}

function innerArgv(launch: ToolLaunch): string[] {
  const { taskSandbox } = launch
  const { limits, paths } = taskSandbox.sandbox
  const program = findProgram(launch.tool)
  const limitOptions = {
    "--memory": launch.memoryBytes ?? limits.memoryBytes,
    "--file-size": fileBytesOf(taskSandbox),
    "--cpu": computeCpuLimitSeconds(limits, launch.timeLimitMs),
    "--files": limits.openFiles,
    // Limits the number of threads. The kernel counts threads for each user, so a tool that runs as
    // the runner's user may have this many threads on top of the threads that already run.
    [taskSandbox.uid === null ? "--more-processes" : "--processes"]: limits.threads,
  }
  return [
    "--chdir",
    launch.cwd,
    ...keptFdArgv(launch),
    ...Object.entries(limitOptions).flatMap(([option, value]) => [option, String(value)]),
    ...[...paths.read, ...readPaths(launch)].flatMap((path) => ["--read", path]),
    ...[program, ...paths.loaders, ...runPaths(launch)].flatMap((path) => ["--run", path]),
    ...(launch.access === "none" ? [] : [`--${launch.access}`, launch.cwd]),
    ...(launch.mayFork === true ? ["--fork"] : []),
    ...(taskSandbox.sandbox.tier === "mounts" ? ["--mounted"] : []),
    "--",
    program,
    ...launch.argv,
  ]
}

/**
 * Returns the maximum size of a file that a tool may write, in bytes. If the task has less disk
 * space than usual, the size is at most the disk space of the task.
 */
function fileBytesOf({ sandbox: { limits }, workspaceBytes }: TaskSandbox): number {
  const isShort = workspaceBytes < limits.workspaceBytes
  return isShort ? Math.min(limits.fileBytes, workspaceBytes) : limits.fileBytes
}

function uidArgv({ taskSandbox: { uid } }: ToolLaunch): string[] {
  return uid === null ? [] : ["--uid", String(uid)]
}

function keptFdArgv({ keptFd: fd }: Pick<ToolLaunch, "keptFd">): string[] {
  return fd === undefined ? [] : ["--keep-fd", String(fd)]
}

function connectArgv({ network }: ToolLaunch): string[] {
  return network === undefined ? [] : ["--connect", network]
}

function channelArgv({ network }: ToolLaunch): string[] {
  return network === undefined ? [] : ["--channel-fd", String(CHANNEL_FD)]
}
