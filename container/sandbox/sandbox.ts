import type { Limits } from "./limits.ts"
import type { SystemPaths } from "./paths.ts"

/**
 * How tools are kept apart from everything else. `landlock` is our launcher alone; `namespaces`
 * has bubblewrap around it; `none` is no sandbox at all.
 */
export type Tier = "namespaces" | "landlock" | "none"

/** The sandbox of this process, the same for all its tools. */
export type Sandbox = {
  tier: Tier
  launcherPath: string
  bubblewrapPath: string
  paths: SystemPaths
  limits: Limits
  /** The first of the users that tools run as; null where we are not root and share our own. */
  firstUid: number | null
}

/** What a tool may do with the folder it works in. */
export type FolderAccess = "write" | "read" | "none"

/** The sandbox of one workspace: the user is its alone as long as it is there. */
export type Jail = { sandbox: Sandbox; uid: number | null }

/** For what the runner asks of tools itself, outside any workspace. */
export function ownJail(sandbox: Sandbox): Jail {
  return { sandbox, uid: sandbox.firstUid }
}
