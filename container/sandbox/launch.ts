import { cpuSecondsOf } from "./limits.ts"
import { findProgram } from "./paths.ts"
import type { FolderAccess, Jail } from "./sandbox.ts"

export type Launch = {
  jail: Jail
  tool: string
  argv: readonly string[]
  /** Where the tool works. */
  cwd: string
  access: FolderAccess
  timeLimitMs: number
  /** A descriptor above 2 that the tool gets. */
  keptFd?: number | undefined
}

const DEVICES = ["/dev/null", "/dev/urandom"]

/** The words that start a tool in its jail. */
export function launchWords(launch: Launch): [string, ...string[]] {
  const { tier } = launch.jail.sandbox
  if (tier === "namespaces") return inNamespaces(launch)
  if (tier === "landlock") return inLandlock(launch)
  return [launch.tool, ...launch.argv]
}

/** Why a jail could not start its tool, in its own words; null where the tool has run. */
export function readLaunchFailure(exitCode: number | null, stderr: string): string | null {
  if (exitCode === 126) return /^launcher: .*$/m.exec(stderr)?.[0] ?? null
  return exitCode === 1 ? (/^bwrap: .*$/m.exec(stderr)?.[0] ?? null) : null
}

function inLandlock(launch: Launch): [string, ...string[]] {
  const { sandbox, uid } = launch.jail
  // The kernel counts the threads of a user, and ours has others than the tool's.
  const threads = uid === null ? [] : ["--processes", String(sandbox.limits.threads)]
  return [sandbox.launcherPath, ...asUser(launch), ...threads, ...innerWords(launch)]
}

function inNamespaces(launch: Launch): [string, ...string[]] {
  const { sandbox } = launch.jail
  const threads = ["--processes", String(sandbox.limits.threads)]
  return [
    sandbox.launcherPath,
    "--outer",
    ...asUser(launch),
    ...keptFd(launch),
    "--",
    sandbox.bubblewrapPath,
    ..."--unshare-all --die-with-parent --clearenv --cap-drop ALL".split(" "),
    ...newRoot(launch),
    "--",
    sandbox.launcherPath,
    ...threads,
    ...innerWords(launch),
  ]
}

/** A root of its own that holds what the rules of the launcher name, and nothing else. */
function newRoot({ jail: { sandbox }, tool, cwd, access }: Launch): string[] {
  const { read, loaders, links } = sandbox.paths
  const seen = [...read, ...loaders.filter((path) => !read.some((each) => lies(path, each)))]
  return [
    ...[...seen, sandbox.launcherPath, findProgram(tool)].flatMap((path) => [
      "--ro-bind",
      path,
      path,
    ]),
    ...links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...DEVICES.flatMap((path) => ["--dev-bind", path, path]),
    ...(access === "none" ? [] : [access === "write" ? "--bind" : "--ro-bind", cwd, cwd]),
    "--chdir",
    cwd,
  ]
}

function innerWords({ jail: { sandbox }, ...launch }: Launch): string[] {
  const { limits, paths } = sandbox
  const program = findProgram(launch.tool)
  const most = {
    "--memory": limits.memoryBytes,
    "--file-size": limits.fileBytes,
    "--cpu": cpuSecondsOf(limits, launch.timeLimitMs),
    "--files": limits.openFiles,
  }
  return [
    "--chdir",
    launch.cwd,
    ...keptFd(launch),
    ...Object.entries(most).flatMap(([option, value]) => [option, String(value)]),
    ...paths.read.flatMap((path) => ["--read", path]),
    ...[program, ...paths.loaders].flatMap((path) => ["--run", path]),
    ...(launch.access === "none" ? [] : [`--${launch.access}`, launch.cwd]),
    "--",
    program,
    ...launch.argv,
  ]
}

function asUser({ jail: { uid } }: Launch): string[] {
  return uid === null ? [] : ["--uid", String(uid)]
}

function keptFd({ keptFd: fd }: Pick<Launch, "keptFd">): string[] {
  return fd === undefined ? [] : ["--keep-fd", String(fd)]
}

function lies(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`)
}
