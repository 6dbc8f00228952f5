import type { ChildProcess } from "node:child_process"
import { availableParallelism } from "node:os"
import type { ToolLimits } from "../settings.ts"
import type { WorkspaceMeter } from "./workspace-meter.ts"
import {
  findProgram,
  isReachableByAllUsers,
  resolveLinkChain,
  removeNestedPaths,
} from "./system-paths.ts"
import type { SystemPaths } from "./system-paths.ts"
import { usesNamespaces } from "./tiers/tier.ts"
import type { SandboxTier } from "./tiers/tier.ts"

/** Sandbox that the runner uses for all its tools. */
export type Sandbox = {
  tier: SandboxTier
  launcherPath: string
  /**
   * Preloaded library that holds a tool before its `main()` until a launch order arrives: see
   * container/launcher/hold.c.
   */
  holdPath: string
  bubblewrapPath: string
  paths: SystemPaths
  limits: ToolLimits
  /** Reason why tools cannot have a network, as a sentence; null if they can have one. */
  networkProblem: string | null
  /**
   * First user id of the range for tools; null if the runner is not root. Tools then run as its own
   * user.
   */
  firstUid: number | null
}

/** Access of a tool to its working folder, which is usually the workspace. */
export type FolderAccess = "write" | "read" | "none"

/**
 * Sandbox of one task. While it is open, no other task has its user id. Its tools may write
 * `workspaceBytes` bytes, which is less than the limit of the sandbox if the disk is short of
 * space.
 */
export type TaskSandbox = {
  sandbox: Sandbox
  uid: number | null
  workspaceBytes: number
  /** Warm sandbox of the task, with a workspace that was created ahead of the task. */
  warmSandbox?: WarmSandbox | undefined
}

/** Rights of a tool in addition to its workspace; none by default. */
export type ToolGrants = {
  /**
   * Path of a UNIX socket that receives all TCP connections of the tool and its children, whatever
   * the address. If not set, they cannot open sockets.
   */
  network?: string | undefined
  /** Whether the tool may start child processes, which end with the tool. */
  mayFork?: boolean | undefined
  /** Programs, by path or name, and folders with programs that the tool may execute. */
  run?: readonly string[] | undefined
  /** Files and folders that the tool may read. */
  read?: readonly string[] | undefined
  /** Limit of address space for each process, in bytes, in place of the limit for all tools. */
  memoryBytes?: number | undefined
}

/** Options for the start of a tool in the sandbox of its task. */
export type ToolLaunch = ToolGrants & {
  taskSandbox: TaskSandbox
  tool: string
  argv: readonly string[]
  /** Working folder of the tool. */
  cwd: string
  access: FolderAccess
  timeLimitMs: number
  /** File descriptor above 2 that the tool inherits. */
  keptFd?: number | undefined
}

/**
 * Kind of a process that waits in a sandbox for a launch order. `launcher`: the launcher, which
 * executes the tool when the order arrives. `tool`: the tool itself with all its libraries loaded,
 * held before its `main()`.
 */
export type HeldProcessKind = "launcher" | "tool"

/** Process that waits in a sandbox for the launch order of one tool. */
export type HeldProcess = {
  child: ChildProcess
  /**
   * Meter of the workspace, which the sender of the order closes; null if the tool cannot write to
   * the workspace.
   */
  meter: WorkspaceMeter | null
  /** Resolves with true once the process waits for its order, or with false if it has ended. */
  ready: Promise<boolean>
  /**
   * Reports whether the process still waits, and whether its sandbox equals the sandbox of a cold
   * start with this launch.
   */
  matches(launch: ToolLaunch): boolean
  /** Sends the launch order. Call it at most once. */
  sendOrder(order: Buffer): void
  /** Reports whether all steps of the sandbox have succeeded and the tool has started. */
  hasStarted(): boolean
  /** Kills a process that has received no order; resolves when it has ended. */
  discard(): Promise<void>
}

/** Workspace that was created before its task, with processes that wait in it for launch orders. */
export type WarmSandbox = {
  folder: string
  /** Resolves with true once all its processes wait, or with false if a process has ended. */
  ready: Promise<boolean>
  /** Reports whether the workspace folder still exists and was not replaced. */
  isIntact(): boolean
  /** Removes and returns an unused process that matches this launch; null if there is none. */
  take(launch: ToolLaunch): HeldProcess | null
  /** Returns the number of processes whose tool has started. */
  countStarted(): number
  /** Kills the unused processes; resolves when they have ended. */
  discard(): Promise<void>
  /** Resolves when `discard` is called at the end of the task. */
  discarded: Promise<void>
}

const DEVICES = ["/dev/null", "/dev/urandom"]

/**
 * Descriptor on which the launcher reports that it waits for an order, and that its tool starts:
 * see container/launcher/launcher.h.
 */
export const LAUNCHER_REPORT_FD = 3

/** Descriptor by which the launcher inside bubblewrap reaches the broker of connections outside. */
const CHANNEL_FD = 4

/** Returns the sandbox for tools that the runner starts for itself and not for a task. */
export function sandboxOutsideTasks(sandbox: Sandbox): TaskSandbox {
  return { sandbox, uid: sandbox.firstUid, workspaceBytes: sandbox.limits.workspaceBytes }
}

/** Returns the command line that starts a tool in its sandbox. */
export function toolLaunchArgv(launch: ToolLaunch): [string, ...string[]] {
  const { tier } = launch.taskSandbox.sandbox
  if (usesNamespaces(tier)) return namespacesArgv(launch)
  if (tier === "landlock") return landlockArgv(launch)
  return [launch.tool, ...launch.argv]
}

/**
 * Returns the command line of a process that waits in the sandbox of a launch for the launch order.
 */
export function heldProcessArgv(launch: ToolLaunch, form: HeldProcessKind): [string, ...string[]] {
  const outer = outerArgv({ ...launch, keptFd: LAUNCHER_REPORT_FD }, form)
  if (form === "tool") return [...outer, findProgram(launch.tool)]
  return [...outer, launch.taskSandbox.sandbox.launcherPath, "--wait"]
}

/**
 * Returns the command line that creates the namespaces of a tool and runs `launcher --probe` in
 * them.
 */
export function namespaceProbeArgv(sandbox: Sandbox): [string, ...string[]] {
  const { launcherPath: tool } = sandbox
  const taskSandbox = sandboxOutsideTasks(sandbox)
  const nothing = { argv: [], cwd: "/", access: "none", timeLimitMs: 0 } as const
  return [...outerArgv({ taskSandbox, tool, ...nothing }), tool, "--probe"]
}

/**
 * Returns the arguments of a launch order for a waiting process. Unless `hasStdout` is set, the
 * stdout of the tool is discarded.
 */
export function launchOrderArgv(launch: ToolLaunch, hasStdout: boolean): string[] {
  return [...(hasStdout ? [] : ["--no-stdout"]), ...innerArgv(launch)]
}

/**
 * Returns the limit of CPU time in seconds. By default a tool may use all cores for its whole time
 * limit.
 */
export function cpuLimitSeconds({ cpuSeconds }: ToolLimits, timeLimitMs: number): number {
  return cpuSeconds ?? Math.ceil((timeLimitMs / 1000) * availableParallelism()) + 1
}

/**
 * Returns the error line that the launcher or bubblewrap printed if it failed to start the tool;
 * null if the tool has run.
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
 * Returns the command line that creates the namespaces, without the program that starts in them.
 */
function outerArgv(launch: ToolLaunch, form: HeldProcessKind = "launcher"): [string, ...string[]] {
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
    // Sets no environment, because the outer launcher has already set it.
    ..."--unshare-all --die-with-parent --cap-drop ALL".split(" "),
    ...(form === "tool" ? ["--setenv", "LD_PRELOAD", sandbox.holdPath] : []),
    ...rootArgv(launch, form),
    "--",
  ]
}

/**
 * Returns the options by which the launcher makes paths reachable that lie below a folder closed to
 * other users, such as /root. bubblewrap and the tool run as the tool's user and access files by
 * path.
 */
function reachArgv(launch: ToolLaunch, form: HeldProcessKind = "launcher"): string[] {
  if (launch.taskSandbox.uid === null) return []
  const paths = launch.access === "none" ? [] : [launch.cwd]
  return [...pathsVisibleToTool(launch, form), ...paths].flatMap((path) => ["--reach", path])
}

/**
 * Returns the options of bubblewrap for a root file system that contains only the paths which the
 * tool may access.
 */
function rootArgv(launch: ToolLaunch, form: HeldProcessKind): string[] {
  const { cwd, access } = launch
  const { links } = launch.taskSandbox.sandbox.paths
  return [
    ...pathsVisibleToTool(launch, form).flatMap((path) => ["--ro-bind", path, path]),
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
export function pathsVisibleToTool(launch: ToolLaunch, form: HeldProcessKind): string[] {
  const { paths, launcherPath, holdPath } = launch.taskSandbox.sandbox
  const starter = form === "tool" ? holdPath : launcherPath
  return removeNestedPaths([...paths.read, ...paths.loaders, starter, ...grantedPaths(launch)])
}

/**
 * Returns the paths of the tool and of the files granted to it, with all symbolic links that lead
 * to them.
 */
function grantedPaths(launch: ToolLaunch): string[] {
  return [findProgram(launch.tool), ...readPaths(launch), ...runPaths(launch)].flatMap(
    resolveLinkChain,
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
    "--cpu": cpuLimitSeconds(limits, launch.timeLimitMs),
    "--files": limits.openFiles,
    // The kernel limits the threads of a user. A tool that runs as the runner's user may add
    // threads to those of the runner.
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
 * Returns the maximum size of a file that a tool may write, which is never more than the disk space
 * of the task.
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
