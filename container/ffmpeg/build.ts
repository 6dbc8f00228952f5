import { createHash } from "node:crypto"
import { createWriteStream } from "node:fs"
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { availableParallelism, tmpdir } from "node:os"
import { isAbsolute, join } from "node:path"
import { planFfmpegBuilds, STATICALLY_LINKED_LIBRARIES } from "./build-options.ts"
import type { FfmpegBuildPlan, ComponentOmission } from "./build-options.ts"
import type { FfmpegSource } from "./debian-source.ts"
import { findLibrariesToLink, findRuntimePackages } from "./debian-packages.ts"
import { runInCLocale } from "./run-program.ts"

const TAIL_LINES = 20

/** Record of a build of ffmpeg, in the file `built.json` beside the folder `bin`. */
export type FfmpegBuildRecord = {
  /** Version of Debian's ffmpeg source that was built. */
  version: string
  /** Hash of the files that define the build: see `hashBuildDefinition`. */
  hash: string
  libraries: string[]
  /** Optional libraries that the Debian suite of this machine lacks. */
  leftOut: string[]
}

/**
 * Builds ffmpeg, ffprobe and fetch-ffmpeg into the subfolder `bin` of a folder. Writes
 * `built.json`, and the list `packages` of the Debian packages that the programs need. Throws an
 * Error with the end of the failed step's output.
 */
export async function buildFfmpeg(
  source: FfmpegSource,
  folder: string,
): Promise<FfmpegBuildRecord> {
  await using stack = new AsyncDisposableStack()
  const work = await mkdtemp(join(tmpdir(), "lathe-ffmpeg-"))
  stack.defer(async () => await rm(work, { recursive: true, force: true }))
  await source.unpackInto(work)
  await createLinkedLibraries(work)
  const { used, leftOut } = await findLibrariesToLink()
  const plans = planFfmpegBuilds(used, source.version)
  const paths: string[] = []
  for (const [index, plan] of plans.entries()) {
    paths.push(...(await runBuildPlan(plan, join(work, `build-${index}`), join(folder, "bin"))))
  }
  const packages = await findRuntimePackages(paths)
  await writeFile(join(folder, "packages"), `${packages.join("\n")}\n`)
  const built = {
    version: source.version,
    hash: await hashBuildDefinition(),
    libraries: used.map(({ option }) => option),
    leftOut: leftOut.map(({ option }) => option),
  }
  await writeFile(join(folder, "built.json"), `${JSON.stringify(built, null, 2)}\n`)
  return built
}

/** Returns the hash of all files in container/ffmpeg. These files define the build. */
export async function hashBuildDefinition(): Promise<string> {
  const hash = createHash("sha256")
  for (const name of (await readdir(import.meta.dirname)).toSorted()) {
    hash.update(name).update(await readFile(join(import.meta.dirname, name)))
  }
  return hash.digest("hex")
}

/** Runs a build plan in a subfolder of the source. Returns the paths of the programs. */
async function runBuildPlan(plan: FfmpegBuildPlan, folder: string, bin: string): Promise<string[]> {
  await mkdir(folder)
  await mkdir(bin, { recursive: true })
  await runStep(folder, "../configure", plan.words)
  for (const { target, installed, words, leftOut } of plan.programs) {
    for (const each of leftOut) await omitComponents(folder, each)
    await runStep(folder, "make", [`--jobs=${availableParallelism()}`, ...words, target])
    await install(join(folder, target), join(bin, installed))
  }
  return plan.programs.map((program) => join(bin, program.installed))
}

/** Replaces an installed program atomically, so that running instances are not disturbed. */
async function install(from: string, to: string): Promise<void> {
  const own = `${to}.${process.pid}`
  await runInCLocale("strip", ["-o", own, from])
  await chmod(own, 0o755)
  await rename(own, to)
}

async function runStep(folder: string, program: string, words: string[]): Promise<void> {
  const log = join(folder, "lathe-build.log")
  const output = createWriteStream(log)
  await once(output, "open")
  const child = spawn(program, words, { cwd: folder, stdio: ["ignore", output, output] })
  await once(child, "close")
  output.close()
  if (child.exitCode === 0) return
  const tail = (await readFile(log, "utf8")).trim().split("\n").slice(-TAIL_LINES).join("\n")
  throw new Error(`${program} of ffmpeg ended with ${child.exitCode ?? child.signalCode}:\n${tail}`)
}

/** Matches a line of a component list: the address of a component. */
const ENTRY = /^\s*&(\w+),\s*$/

/**
 * Removes names from a component list in a build folder, so that the linker drops these components.
 * Throws an Error if no name matches, for example because a new version of ffmpeg changed the form
 * of the list.
 */
async function omitComponents(folder: string, { list, names }: ComponentOmission): Promise<void> {
  const path = join(folder, list)
  const lines = (await readFile(path, "utf8")).split("\n")
  const kept = lines.filter((line) => {
    const [, name] = ENTRY.exec(line) ?? []
    return name === undefined || !names.test(name)
  })
  if (kept.length === lines.length) {
    throw new Error(
      `${list} of ffmpeg has no name that matches ${String(names)}: has its form changed?`,
    )
  }
  await writeFile(path, kept.join("\n"))
}

const HARDENING = ["-fPIE", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"]

/**
 * Creates the libraries that CONFIGURE_FLAGS name: `libzeroed.a` in a folder, and links to static
 * libraries in its subfolder `static`. Libraries that are not installed in static form are linked
 * dynamically.
 */
export async function createLinkedLibraries(folder: string): Promise<void> {
  const object = join(folder, "zeroed.o")
  const source = join(import.meta.dirname, "zeroed.c")
  await runInCLocale("gcc", ["-O2", "-Wall", "-Werror", ...HARDENING, "-c", source, "-o", object])
  await runInCLocale("ar", ["rcs", join(folder, "libzeroed.a"), object])
  const statics = join(folder, "static")
  await mkdir(statics)
  for (const name of STATICALLY_LINKED_LIBRARIES.map((library) => `lib${library}.a`)) {
    const found = (await runInCLocale("gcc", [`--print-file-name=${name}`])).trim()
    if (isAbsolute(found)) await symlink(found, join(statics, name))
  }
}
