import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"

/** The setting that moves what all clones of a user share and can be made again. */
export const USER_CACHE_SETTING = "XDG_CACHE_HOME"

/** The folder of this user's caches, by the XDG specification, which ignores a relative path. */
export function userCacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const named = environment[USER_CACHE_SETTING]
  return named && isAbsolute(named) ? named : join(homedir(), ".cache")
}
