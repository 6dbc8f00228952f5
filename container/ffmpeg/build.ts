import { createHash } from "node:crypto"
import { createWriteStream } from "node:fs"
import { chmod, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from "node:fs/promises"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { planBuilds } from "./build-options.ts"
import type { BuildPlan } from "./build-options.ts"
import type { DebianSource } from "./debian-source.ts"
import { leaveOut } from "./leave-out.ts"
import { makeLinkedIn } from "./linked-in.ts"
import { findLibraries, findRuntimePackages } from "./packages.ts"
import { run } from "./run.ts"

const TAIL_LINES = 20

/** What a build says of itself, in `built.json` beside its folder `bin`. */
export type Built = {
  /** Version of Debian's source. */
  version: string
  /** Of the files that say how it is built. */
  hash: string
  libraries: string[]
  /** Libraries that this suite lacks. */
  leftOut: string[]
}

/**
 * Builds ffmpeg, ffprobe and fetch-ffmpeg into `bin` of a folder, with `built.json`, and `packages`,
 * which lists the Debian packages that they need to run. Throws an Error with the end of what was printed.
 */
export async function build(source: DebianSource, folder: string): Promise<Built> {
  await using stack = new AsyncDisposableStack()
  const work = await mkdtemp(join(tmpdir(), "lathe-ffmpeg-"))
  stack.defer(async () => await rm(work, { recursive: true, force: true }))
  await source.unpackInto(work)
  await makeLinkedIn(work)
  const { used, leftOut } = await findLibraries()
  const plans = planBuilds(used, source.version)
  const paths: string[] = []
  for (const [index, plan] of plans.entries()) {
    paths.push(...(await follow(plan, join(work, `build-${index}`), join(folder, "bin"))))
  }
  const packages = await findRuntimePackages(paths)
  await writeFile(join(folder, "packages"), `${packages.join("\n")}\n`)
  const built = {
    version: source.version,
    hash: await hashOfOptions(),
    libraries: used.map(({ option }) => option),
    leftOut: leftOut.map(({ option }) => option),
  }
  await writeFile(join(folder, "built.json"), `${JSON.stringify(built, null, 2)}\n`)
  return built
}

/** Hash of everything in this folder, which says how ffmpeg is built. */
export async function hashOfOptions(): Promise<string> {
  const hash = createHash("sha256")
  for (const name of (await readdir(import.meta.dirname)).toSorted()) {
    hash.update(name).update(await readFile(join(import.meta.dirname, name)))
  }
  return hash.digest("hex")
}

/** Builds in a folder inside that of the source; answers the paths of the programs. */
async function follow(plan: BuildPlan, folder: string, bin: string): Promise<string[]> {
  await mkdir(folder)
  await mkdir(bin, { recursive: true })
  await runStep(folder, "../configure", plan.words)
  for (const { made, installed, words, leftOut } of plan.programs) {
    for (const each of leftOut) await leaveOut(folder, each)
    await runStep(folder, "make", [`--jobs=${availableParallelism()}`, ...words, made])
    await install(join(folder, made), join(bin, installed))
  }
  return plan.programs.map((program) => join(bin, program.installed))
}

/** Puts a program into its place, which one that runs already does not notice. */
async function install(from: string, to: string): Promise<void> {
  const own = `${to}.${process.pid}`
  await run("strip", ["-o", own, from])
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
