import { spawn } from "node:child_process"
import { once } from "node:events"
import {
  appendFile,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, it } from "vitest"
import { makeChildEnvironment } from "../../../scripts/cli/environment.ts"
import { startNodeProgram } from "../../../scripts/cli/program.ts"
import { copyProject } from "./extended-project.ts"
import type { ExtendedProject } from "./extended-project.ts"

// A start bundles the service again if sources or the path of the clone changed, and only then.

const SOURCE = "container/main.ts"
const MARKER = "a line that only a bundle of the changed source has"
const ENSURE =
  'const [{ runScript }, { ensureServiceBundles }] = await Promise.all([import("./scripts/cli/cli-error.ts"), ' +
  'import("./scripts/setup/build.ts")]); await runScript(async () => ensureServiceBundles())'
const DAY_S = 86_400
const POLL_MS = 2

const opened = new AsyncDisposableStack()
let project: ExtendedProject

beforeAll(async () => {
  project = opened.use(await copyProject())
  await ensureBuilt(project.path)
})

afterAll(async () => {
  await opened.disposeAsync()
})

it("unchanged sources are not bundled again", async () => {
  expect(await ensureBuilt(project.path)).toBe("")
})

it("a killed bundling leaves no valid build, and the next one removes its files", async () => {
  const before = await readBuilt()
  const source = join(project.path, SOURCE)
  const { atime, mtime } = await stat(source)
  const text = await readFile(source)
  await appendFile(source, `console.log("${MARKER}")\n`)
  await bundleUntilFirstFile()
  // As it was, so that the stamp of the first bundling would hold.
  await writeFile(source, text)
  await utimes(source, atime, mtime)
  const left = join(builtFolder(project.path), "building", "of-killed")
  await mkdir(left)
  await utimes(left, new Date(), Date.now() / 1000 - DAY_S)
  expect(await ensureBuilt(project.path)).toContain("Bundling the service")
  expect(await readBuilt()).toEqual(before)
  await expect(stat(left)).rejects.toThrow("ENOENT")
})

it("a changed source is bundled again", async () => {
  await appendFile(join(project.path, SOURCE), `console.log("${MARKER}")\n`)
  expect(await ensureBuilt(project.path)).toContain("Bundling the service")
  expect((await readBuilt())["runner.js"]).toContain(MARKER)
})

it("the bundling program counts as a source, and its errors name their place", async () => {
  const path = join(project.path, "scripts/build/programs.ts")
  const text = await readFile(path)
  await appendFile(path, "const broken: = 1\n")
  const said = await ensureBuilt(project.path)
  expect(said).toMatch(/scripts\/build\/programs\.ts:\d+/)
  expect(said).toContain("The service could not be bundled.")
  expect(said).not.toMatch(/^ +at /m)
  await writeFile(path, text)
})

it("a moved clone gets bundles of its new path", async () => {
  const moved = `${project.path}-moved`
  opened.defer(() => rm(builtFolder(project.path, moved), { recursive: true, force: true }))
  await rename(project.path, moved)
  opened.defer(() => rename(moved, project.path))
  expect(await ensureBuilt(moved)).toContain("Bundling the service")
  const { "service.js": service } = await readBuilt(moved)
  expect(service).toContain(moved)
})

/** Bundles as a start does; returns its output, empty if nothing had to be bundled. */
async function ensureBuilt(folder: string): Promise<string> {
  const words: [string, ...string[]] = ["--input-type=module", "--eval", ENSURE]
  await using program = startNodeProgram({ words, folder, environment: makeChildEnvironment() })
  await program.exited
  return program.tail().stderr
}

/** Bundles, and is killed as soon as the first file has been put in its place. */
async function bundleUntilFirstFile(): Promise<void> {
  const first = join(builtFolder(project.path), "start.js")
  const { mtimeMs } = await stat(first)
  const child = spawn(process.execPath, ["scripts/build/main.ts"], { cwd: project.path })
  const ended = once(child, "exit")
  while (child.exitCode === null && (await stat(first)).mtimeMs === mtimeMs) await sleep(POLL_MS)
  child.kill("SIGKILL")
  await ended
}

function builtFolder(folder: string, place = folder): string {
  return join(folder, "node_modules/.cache/lathe", place)
}

/**
 * Built files by name, without the stamp and workerd's part, which contains a path of the build.
 */
async function readBuilt(folder = project.path): Promise<Record<string, string>> {
  const names = (await readdir(builtFolder(folder))).filter(
    (name) => /\.js(?:on)?$/.test(name) && name !== "stamp.json",
  )
  const texts = names.map(
    async (name) => [name, await readFile(join(builtFolder(folder), name), "latin1")] as const,
  )
  return Object.fromEntries(await Promise.all(texts))
}
