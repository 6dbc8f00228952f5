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
import { BUILT, lookAtAll, removeStamp, writeStamp } from "../local/built.ts"
import { bundleProgram, listSources } from "./programs.ts"
import { buildRuntime } from "./runtime.ts"

// Bundles all that the service runs: the start script, the service, the runner and workerd's
// configuration with the Worker in it. There is no secret in what it makes: whoever may read the
// clone may start a service of it.

/** A folder changes with the files that come and go in it. */
const MIGRATIONS = "migrations"
/** What stands for the packages, which are not looked at file by file. */
const PACKAGES = ["package-lock.json", "node_modules/.lathe-packages"]

/** A room that is older was left by a process that was killed. */
const ROOM_MS_MAX = 3_600_000

const begunAt = Date.now()
const room = makeRoom()
try {
  const [start, service, socket, runner, runtime, own] = await Promise.all([
    bundleProgram("scripts/start.ts"),
    bundleProgram("scripts/local/main.ts"),
    bundleProgram("scripts/local/front/socket-thread.ts"),
    bundleProgram("container/main.ts"),
    buildRuntime(join(room, "runtime")),
    listSources("scripts/build/main.ts"),
  ])
  const sources = [start, service, socket, runner, runtime].flatMap(({ inputs }) => inputs)
  const inputs = [...new Set([...sources, ...own, MIGRATIONS])].filter(isOwn)
  // Of a process that is killed from here on, nothing counts as built.
  removeStamp()
  put(BUILT.start, start.contents)
  put(BUILT.service, service.contents)
  put(BUILT.socket, socket.contents)
  put(BUILT.runner, runner.contents)
  put(BUILT.workerd, runtime.config)
  put(BUILT.runtime, JSON.stringify(runtime.record))
  writeStamp(lookAtAll([...inputs, ...PACKAGES], begunAt))
} catch (error) {
  // What esbuild does not understand it has shown already.
  if (!(error instanceof Error && "errors" in error)) throw error
  process.exitCode = 1
} finally {
  rmSync(room, { recursive: true, force: true })
}

function makeRoom(): string {
  const folder = join(BUILT.folder, "building")
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

/** Puts a file in place as a whole, since a service may be starting from it. */
function put(path: string, contents: string | Uint8Array): void {
  const made = join(room, "made")
  writeFileSync(made, contents)
  renameSync(made, path)
}
