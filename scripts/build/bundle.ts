import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import {
  BUNDLE_PATHS,
  makeBuildStamp,
  removeBuildStamp,
  writeBuildStamp,
} from "../start/bundles.ts"
import { bundleProgram, listImportedSourceFiles } from "./programs.ts"
import { buildRuntime } from "./runtime.ts"

// Bundles all programs of the service: the start script, the service, the runner, and workerd's
// configuration with the Worker. The results contain no secret.

/**
 * Folder of D1 migrations. The folder's modification time changes when a file is added or removed.
 */
const MIGRATIONS = "migrations"
/** Files that change when an npm package changes. */
const PACKAGES = ["package-lock.json", "node_modules/.lathe-packages"]

/**
 * Age from which a temporary folder of a build counts as left by a killed process, in milliseconds.
 */
const ROOM_MS_MAX = 3_600_000

const begunAt = Date.now()
const room = makeRoom()
try {
  const [start, service, socket, runner, runtime, own] = await Promise.all([
    bundleProgram("scripts/start/main.ts"),
    bundleProgram("scripts/start/run.ts"),
    bundleProgram("scripts/start/front/socket-thread.ts"),
    bundleProgram("container/main.ts"),
    buildRuntime(join(room, "runtime")),
    listImportedSourceFiles("scripts/build/main.ts"),
  ])
  const sources = [start, service, socket, runner, runtime].flatMap(({ inputs }) => inputs)
  const inputs = [...new Set([...sources, ...own, MIGRATIONS])].filter(isOwn)
  // Removes the build stamp first. If the build is then killed, the bundles do not count as built.
  removeBuildStamp()
  replaceFile(BUNDLE_PATHS.start, start.contents)
  replaceFile(BUNDLE_PATHS.service, service.contents)
  replaceFile(BUNDLE_PATHS.socket, socket.contents)
  replaceFile(BUNDLE_PATHS.runner, runner.contents)
  replaceFile(BUNDLE_PATHS.workerd, runtime.config)
  replaceFile(BUNDLE_PATHS.runtime, JSON.stringify(runtime.record))
  writeBuildStamp(makeBuildStamp([...inputs, ...PACKAGES], begunAt))
} catch (error) {
  // Prints nothing about a failed build, because esbuild has already printed its errors.
  if (!(error instanceof Error && "errors" in error)) throw error
  process.exitCode = 1
} finally {
  rmSync(room, { recursive: true, force: true })
}

function makeRoom(): string {
  const folder = join(BUNDLE_PATHS.folder, "building")
  mkdirSync(folder, { recursive: true })
  removeLeftRooms(folder)
  return mkdtempSync(join(folder, "of-"))
}

function removeLeftRooms(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const madeAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? begunAt
    if (begunAt - madeAt > ROOM_MS_MAX) rmSync(path, { recursive: true, force: true })
  }
}

function isOwn(path: string): boolean {
  return !/(?:^|\/)node_modules\//.test(path)
}

/** Replaces a file atomically, because a service may be reading the file at its start. */
function replaceFile(path: string, contents: string | Uint8Array): void {
  const temporaryPath = join(room, "made")
  writeFileSync(temporaryPath, contents)
  renameSync(temporaryPath, path)
}
