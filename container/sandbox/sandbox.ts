import type { ChildProcess } from "node:child_process"
import { availableParallelism } from "node:os"
import type { ToolLimits } from "../settings.ts"
import type { Meter } from "./meter.ts"
import { findProgram, isReachable, pathsTo, withoutInner } from "./paths.ts"
import type { SystemPaths } from "./paths.ts"
import { hasNamespaces } from "./tier.ts"
import type { Tier } from "./tier.ts"

/** The sandbox that this process uses for all its tools. */
export type Sandbox = {
  tier: Tier
  launcherPath: string
  /** The library that holds a loaded tool until its order comes: see container/launcher/hold.c. */
  holdPath: string
  bubblewrapPath: string
  paths: SystemPaths
  limits: ToolLimits
  /** Why no tool can be given a network, as a sentence; null where one can. */
  networkProblem: string | null
  /** The first user id for tools; null where the runner is not root and tools share its user. */
  firstUid: number | null
}

/** Access of a tool to its working folder. */
export type FolderAccess = "write" | "read" | "none"

/**
 * The sandbox of one task: no other task has its user id while it is open. Its tools may write
 * `workspaceBytes`, which is less than the limit where the disk has less for it.
 */
export type TaskSandbox = {
  sandbox: Sandbox
  uid: number | null
  workspaceBytes: number
  /** The workspace that was prepared for it, with sandboxes that wait there. */
  place?: Place | undefined
}

/** What a tool may have and do beside its workspace; by default nothing. */
export type Grants = {
  /**
   * Path of a UNIX socket. Whatever TCP connection the tool or its children make, to whatever
   * address, is one to this socket; without it they have no sockets.
   */
  network?: string | undefined
  /** Whether it may start processes, which end with it. */
  mayFork?: boolean | undefined
  /** Further programs, by path or name, and folders of programs that may be executed. */
  run?: readonly string[] | undefined
  /** Further files and folders that may be read. */
  read?: readonly string[] | undefined
  /** Address space of each of its processes, where the limit of all tools is too low. */
  memoryBytes?: number | undefined
}

/** A start of a tool in the sandbox of its task. */
export type Launch = Grants & {
  taskSandbox: TaskSandbox
  tool: string
  argv: readonly string[]
  /** Working folder of the tool. */
  cwd: string
  access: FolderAccess
  timeLimitMs: number
  /** A file descriptor above 2 that the tool inherits. */
  keptFd?: number | undefined
}

/**
 * What waits inside a sandbox for its order: the launcher, which then executes the tool, or the tool
 * itself, held where all its libraries are loaded.
 */
export type WaitingForm = "launcher" | "tool"

/** A sandbox where an order to start one tool is waited for. */
export type WaitingSandbox = {
  child: ChildProcess
  /** The meter of its workspace, which is closed by whoever gives the order; null: it has none. */
  meter: Meter | null
  /** Resolves when it waits, and with false where it has ended instead. */
  ready: Promise<boolean>
  /** Whether it waits, and is what a cold start of this launch would make now. */
  serves(launch: Launch): boolean
  /** Gives its one order. */
  give(order: Buffer): void
  /** Whether its tool has begun; true only after all of the sandbox's own steps. */
  hasBegun(): boolean
  /** Ends one without an order; resolves when it is gone. */
  giveUp(): Promise<void>
}

/** A workspace that was made before its task came, with sandboxes that wait there. */
export type Place = {
  folder: string
  /** Resolves when its sandboxes wait, and with false where one has ended instead. */
  ready: Promise<boolean>
  /** Whether the folder is still there. */
  isIntact(): boolean
  /** A sandbox that serves this launch and has served no other; null where none is left. */
  take(launch: Launch): WaitingSandbox | null
  /** How many of its sandboxes have started a tool. */
  countBegun(): number
  /** Ends the sandboxes that nobody has taken; resolves when they are gone. */
  giveUp(): Promise<void>
  /** Resolves when it is given up, which is when its task has ended. */
  over: Promise<void>
}

const DEVICES = ["/dev/null", "/dev/urandom"]

/** Descriptor by which a launcher reports that it waits and that its tool begins: see launcher.h. */
export const REPORT_FD = 3

/** Descriptor by which the launcher inside bubblewrap reaches the broker outside. */
const CHANNEL_FD = 4

/** The sandbox for tools that the runner starts outside any task. */
export function runnerSandbox(sandbox: Sandbox): TaskSandbox {
  return { sandbox, uid: sandbox.firstUid, workspaceBytes: sandbox.limits.workspaceBytes }
}

/** The argv that starts a tool in its sandbox. */
export function launchArgv(launch: Launch): [string, ...string[]] {
  const { tier } = launch.taskSandbox.sandbox
  if (hasNamespaces(tier)) return namespacesArgv(launch)
  if (tier === "landlock") return landlockArgv(launch)
  return [launch.tool, ...launch.argv]
}

/** The argv of what waits, in the same sandbox, for the order to start a tool in it. */
export function waitingArgv(launch: Launch, form: WaitingForm): [string, ...string[]] {
  const outer = outerArgv({ ...launch, keptFd: REPORT_FD }, form)
  if (form === "tool") return [...outer, findProgram(launch.tool)]
  return [...outer, launch.taskSandbox.sandbox.launcherPath, "--wait"]
}

/** The argv that makes the namespaces of tools, with the launcher's probe for a tool. */
export function probeArgv(sandbox: Sandbox): [string, ...string[]] {
  const { launcherPath: tool } = sandbox
  const taskSandbox = runnerSandbox(sandbox)
  const nothing = { argv: [], cwd: "/", access: "none", timeLimitMs: 0 } as const
  return [...outerArgv({ taskSandbox, tool, ...nothing }), tool, "--probe"]
}

/** The words of an order to a launcher that waits; without `hasStdout` what is said there is lost. */
export function orderWords(launch: Launch, hasStdout: boolean): string[] {
  return [...(hasStdout ? [] : ["--no-stdout"]), ...innerArgv(launch)]
}

/** Limit of processor time; by default what all cores give within the time limit. */
export function cpuSecondsOf({ cpuSeconds }: ToolLimits, timeLimitMs: number): number {
  return cpuSeconds ?? Math.ceil((timeLimitMs / 1000) * availableParallelism()) + 1
}

/** The error line of a sandbox that could not start its tool; null where the tool has run. */
export function readLaunchFailure(exitCode: number | null, stderr: string): string | null {
  if (exitCode === 126) return /^launcher: .*$/m.exec(stderr)?.[0] ?? null
  return exitCode === 1 ? (/^bwrap: .*$/m.exec(stderr)?.[0] ?? null) : null
}

function landlockArgv(launch: Launch): [string, ...string[]] {
  const { sandbox } = launch.taskSandbox
  return [
    sandbox.launcherPath,
    ...uidArgv(launch),
    ...(grantedPaths(launch).every(isReachable) ? [] : reachArgv(launch)),
    ...connectArgv(launch),
    ...innerArgv(launch),
  ]
}

function namespacesArgv(launch: Launch): [string, ...string[]] {
  const { launcherPath } = launch.taskSandbox.sandbox
  return [...outerArgv(launch), launcherPath, ...channelArgv(launch), ...innerArgv(launch)]
}

/** What makes the namespaces, up to the program that is started in them. */
function outerArgv(launch: Launch, form: WaitingForm = "launcher"): [string, ...string[]] {
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
    // The environment is what the outer launcher has made.
    ..."--unshare-all --die-with-parent --cap-drop ALL".split(" "),
    ...(form === "tool" ? ["--setenv", "LD_PRELOAD", sandbox.holdPath] : []),
    ...rootArgv(launch, form),
    "--",
  ]
}

/**
 * bubblewrap and tools run as the tool's user, and find what there is only by its path. Below a
 * folder that is closed to that user, such as /root, the launcher has to open the way.
 */
function reachArgv(launch: Launch, form: WaitingForm = "launcher"): string[] {
  if (launch.taskSandbox.uid === null) return []
  const paths = launch.access === "none" ? [] : [launch.cwd]
  return [...visiblePaths(launch, form), ...paths].flatMap((path) => ["--reach", path])
}

/** A root file system with the paths that the launcher's rules allow, and nothing else. */
function rootArgv(launch: Launch, form: WaitingForm): string[] {
  const { cwd, access } = launch
  const { links } = launch.taskSandbox.sandbox.paths
  return [
    ...visiblePaths(launch, form).flatMap((path) => ["--ro-bind", path, path]),
    ...links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...DEVICES.flatMap((path) => ["--dev-bind", path, path]),
    ...(access === "none" ? [] : [access === "write" ? "--bind" : "--ro-bind", cwd, cwd]),
    "--remount-ro",
    "/",
    "--chdir",
    cwd,
  ]
}

/** What a tool sees beside its workspace. */
export function visiblePaths(launch: Launch, form: WaitingForm): string[] {
  const { paths, launcherPath, holdPath } = launch.taskSandbox.sandbox
  const starter = form === "tool" ? holdPath : launcherPath
  return withoutInner([...paths.read, ...paths.loaders, starter, ...grantedPaths(launch)])
}

/** The tool and what it may have beside, with all links on the way to each. */
function grantedPaths(launch: Launch): string[] {
  return [findProgram(launch.tool), ...readPaths(launch), ...runPaths(launch)].flatMap(pathsTo)
}

function readPaths({ taskSandbox, read = [], network }: Launch): readonly string[] {
  return network === undefined ? read : [...taskSandbox.sandbox.paths.tls, ...read]
}

function runPaths({ run = [] }: Launch): string[] {
  return run.map(findProgram)
}

function innerArgv(launch: Launch): string[] {
  const { taskSandbox } = launch
  const { limits, paths } = taskSandbox.sandbox
  const program = findProgram(launch.tool)
  const limitOptions = {
    "--memory": launch.memoryBytes ?? limits.memoryBytes,
    "--file-size": fileBytesOf(taskSandbox),
    "--cpu": cpuSecondsOf(limits, launch.timeLimitMs),
    "--files": limits.openFiles,
    // The kernel counts threads per user, and without a user of its own a tool shares the runner's.
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

/** The kernel keeps a single file within what the disk has for the task. */
function fileBytesOf({ sandbox: { limits }, workspaceBytes }: TaskSandbox): number {
  const isShort = workspaceBytes < limits.workspaceBytes
  return isShort ? Math.min(limits.fileBytes, workspaceBytes) : limits.fileBytes
}

function uidArgv({ taskSandbox: { uid } }: Launch): string[] {
  return uid === null ? [] : ["--uid", String(uid)]
}

function keptFdArgv({ keptFd: fd }: Pick<Launch, "keptFd">): string[] {
  return fd === undefined ? [] : ["--keep-fd", String(fd)]
}

function connectArgv({ network }: Launch): string[] {
  return network === undefined ? [] : ["--connect", network]
}

function channelArgv({ network }: Launch): string[] {
  return network === undefined ? [] : ["--channel-fd", String(CHANNEL_FD)]
}
