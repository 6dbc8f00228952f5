import { existsSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"

/** The folders of packages of the virtual environment that a link to Python lies in. */
export function packageFolders(link: string): string[] {
  const library = join(dirname(dirname(link)), "lib")
  if (!existsSync(library)) return []
  const names = readdirSync(library).filter((name) => name.startsWith("python"))
  return names.map((name) => join(library, name, "site-packages"))
}

/** The words that start a program of a driver: Python reads nothing but what it is told of. */
export function isolatedArgv(driverFolder: string, program: string): string[] {
  return ["-I", "-S", "-B", join(driverFolder, program)]
}
