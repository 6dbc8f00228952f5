import { BUILD_TOOLS, FETCH_PACKAGES, LIBRARIES } from "./build-options.ts"
import type { Library } from "./build-options.ts"
import { run } from "./run.ts"

/** Debian packages that the build needs, without those that are optional and not to be had here. */
export async function findBuildPackages(): Promise<string[]> {
  const known = await readStates(LIBRARIES.flatMap((each) => each.package ?? []))
  const libraries = LIBRARIES.filter((each) => {
    return !each.isOptional || known.get(each.package ?? "")?.isToBeHad
  })
  return [...BUILD_TOOLS, ...FETCH_PACKAGES, ...libraries.flatMap((each) => each.package ?? [])]
}

/** Those of the packages of the build that are not installed. */
export async function findMissingPackages(): Promise<string[]> {
  const wanted = await findBuildPackages()
  const states = await readStates(wanted)
  return wanted.filter((name) => !states.get(name)?.isInstalled)
}

/** The libraries that can be built with, and those that are optional and not installed. */
export async function findLibraries(): Promise<{ used: Library[]; leftOut: Library[] }> {
  const states = await readStates(LIBRARIES.flatMap((each) => each.package ?? []))
  const leftOut = LIBRARIES.filter((each) => {
    return each.isOptional && !states.get(each.package ?? "")?.isInstalled
  })
  return { used: LIBRARIES.filter((each) => !leftOut.includes(each)), leftOut }
}

/** Packages of the libraries that programs load, none twice. */
export async function findRuntimePackages(programs: string[]): Promise<string[]> {
  const loaded = await run("ldd", programs)
  const paths = [...new Set([...loaded.matchAll(/=> (\/\S+)/g)].map(([, path = ""]) => path))]
  // Debian knows a file of /usr/lib by that name, or by that of /lib, and fails for the other.
  const names = paths.flatMap((path) => [path, `/usr${path}`, path.replace(/^\/usr\//, "/")])
  const found = await run("sh", ["-c", 'dpkg-query --search "$@" || true', "sh", ...names])
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

type State = { isInstalled: boolean; isToBeHad: boolean }

async function readStates(names: string[]): Promise<Map<string, State>> {
  const printed = await run("apt-cache", ["policy", ...names])
  const found = printed.matchAll(/^(\S+):\n {2}Installed: (.*)\n {2}Candidate: (.*)$/gm)
  return new Map(
    [...found].map(([, name = "", installed, candidate]) => {
      const state = { isInstalled: installed !== "(none)", isToBeHad: candidate !== "(none)" }
      return [name, state] as const
    }),
  )
}
