import { existsSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"

/**
 * Returns the package folders of a Python virtual environment. `link` is the path of the Python
 * executable in the environment.
 */
export function findPythonPackageFolders(link: string): string[] {
  const library = join(dirname(dirname(link)), "lib")
  if (!existsSync(library)) return []
  const names = readdirSync(library).filter((name) => name.startsWith("python"))
  return names.map((name) => join(library, name, "site-packages"))
}

/**
 * Returns the arguments with which Python runs a driver program in isolated mode. In this mode,
 * Python ignores environment variables, installed packages and folders of the user.
 */
export function isolatedPythonArgv(driverFolder: string, program: string): string[] {
  return ["-I", "-S", "-B", join(driverFolder, program)]
}
