import { BUILD_TOOL_PACKAGES, FETCH_FFMPEG_PACKAGES, FFMPEG_LIBRARIES } from "./build-options.ts"
import type { FfmpegLibrary } from "./build-options.ts"
import { runInCLocale } from "./run-program.ts"

/**
 * Returns the Debian packages that the build needs, without optional packages that this system does
 * not offer.
 */
export async function findBuildPackages(): Promise<string[]> {
  const known = await readStates(FFMPEG_LIBRARIES.flatMap((each) => each.package ?? []))
  const libraries = FFMPEG_LIBRARIES.filter((each) => {
    return !each.isOptional || known.get(each.package ?? "")?.isAvailable
  })
  return [
    ...BUILD_TOOL_PACKAGES,
    ...FETCH_FFMPEG_PACKAGES,
    ...libraries.flatMap((each) => each.package ?? []),
  ]
}

/** Returns the Debian packages that the build needs and that are not installed. */
export async function findMissingPackages(): Promise<string[]> {
  const packages = await findBuildPackages()
  const states = await readStates(packages)
  return packages.filter((name) => !states.get(name)?.isInstalled)
}

/** Returns the libraries to link ffmpeg with, and the optional libraries that are not installed. */
export async function findLibrariesToLink(): Promise<{
  used: FfmpegLibrary[]
  leftOut: FfmpegLibrary[]
}> {
  const states = await readStates(FFMPEG_LIBRARIES.flatMap((each) => each.package ?? []))
  const leftOut = FFMPEG_LIBRARIES.filter((each) => {
    return each.isOptional && !states.get(each.package ?? "")?.isInstalled
  })
  return { used: FFMPEG_LIBRARIES.filter((each) => !leftOut.includes(each)), leftOut }
}

/** Returns the Debian packages of the libraries that programs load, without duplicates. */
export async function findRuntimePackages(programs: string[]): Promise<string[]> {
  const loaded = await runInCLocale("ldd", programs)
  const paths = [...new Set([...loaded.matchAll(/=> (\/\S+)/g)].map(([, path = ""]) => path))]
  // dpkg records a file with its path below either /usr/lib or /lib, and does not find the other
  // path.
  const names = paths.flatMap((path) => [path, `/usr${path}`, path.replace(/^\/usr\//, "/")])
  const found = await runInCLocale("sh", ["-c", 'dpkg-query --search "$@" || true', "sh", ...names])
  const owners = new Map(
    [...found.matchAll(/^([^\s:,]+).*: (?:\/usr)?(\/\S+)$/gm)].map(([, owner = "", path = ""]) => {
      return [path, owner] as const
    }),
  )
  return [...new Set(paths.map((path) => ownerOf(path, owners)))].toSorted()
}

function ownerOf(path: string, owners: ReadonlyMap<string, string>): string {
  const owner = owners.get(path.replace(/^\/usr\//, "/"))
  if (owner === undefined) throw new Error(`No Debian package has ${path}.`)
  return owner
}

type State = { isInstalled: boolean; isAvailable: boolean }

async function readStates(names: string[]): Promise<Map<string, State>> {
  const printed = await runInCLocale("apt-cache", ["policy", ...names])
  const found = printed.matchAll(/^(\S+):\n {2}Installed: (.*)\n {2}Candidate: (.*)$/gm)
  return new Map(
    [...found].map(([, name = "", installed, candidate]) => {
      const state = { isInstalled: installed !== "(none)", isAvailable: candidate !== "(none)" }
      return [name, state] as const
    }),
  )
}
