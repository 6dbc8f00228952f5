import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"

/** Environment variable that names the folder of the user's caches. */
export const USER_CACHE_VARIABLE = "XDG_CACHE_HOME"

/**
 * Returns the folder of this user's caches by the XDG specification, which ignores a relative path
 * in XDG_CACHE_HOME.
 */
export function findUserCacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const named = environment[USER_CACHE_VARIABLE]
  return named && isAbsolute(named) ? named : join(homedir(), ".cache")
}
