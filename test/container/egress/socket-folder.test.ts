import { execFile } from "node:child_process"
import { once } from "node:events"
import { existsSync, statSync } from "node:fs"
import { chown, mkdir, readdir, symlink, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, describe, expect, it } from "vitest"
import {
  makeSocketFolder,
  removeLeftSocketFolders,
} from "../../../container/egress/socket-folder.ts"
import { makeTempFolder } from "../../../scripts/local/temp-folder.ts"

const OTHER_UID = 23_456
const isRoot = process.getuid?.() === 0
const isLinux = process.platform === "linux"

/** Another process that connects to a socket and prints its greeting. */
const GREETED = "require('node:net').connect(process.argv[1]).pipe(process.stdout)"

const opened = new AsyncDisposableStack()
afterAll(async () => await opened.disposeAsync())

async function makeOwnDir(name = "own"): Promise<string> {
  const path = join(opened.use(await makeTempFolder("sockets")).path, name)
  await mkdir(path)
  return path
}

describe("a folder for sockets", () => {
  it("is in the folder of its process, for this user alone, until it is disposed of", async () => {
    const ownDir = await makeOwnDir()
    {
      await using folder = await makeSocketFolder(ownDir)
      expect(folder.path.startsWith(join(ownDir, "sockets-"))).toBe(true)
      expect(statSync(folder.path).mode & 0o777).toBe(0o700)
      await writeFile(join(folder.path, "s"), "")
    }
    expect(await readdir(ownDir)).toEqual([])
  })

  it.runIf(isLinux)("has sockets that others reach where the path is too long", async () => {
    const ownDir = await makeOwnDir("long".repeat(50))
    {
      await using folder = await makeSocketFolder(ownDir)
      const socket = join(folder.path, "elevenbytes")
      const server = createServer((client) => client.end("hello"))
      await once(server.listen(socket), "listening")
      const [name = ""] = await readdir(ownDir)
      expect(await readdir(join(ownDir, name))).toEqual(["elevenbytes"])
      expect(await greetingOf(socket)).toBe("hello")
      server.close()
    }
    expect(await readdir(ownDir)).toEqual([])
  })
})

describe("folders for sockets that a killed process has left", () => {
  it("are removed where they are of the same folder", async () => {
    const [ownDir, otherDir] = [await makeOwnDir(), await makeOwnDir()]
    const left = await makeSocketFolder(ownDir)
    await using other = await makeSocketFolder(otherDir)
    await writeFile(join(left.path, "s"), "")
    await removeLeftSocketFolders(ownDir)
    expect([left, other].map(({ path }) => existsSync(path))).toEqual([false, true])
  })

  it("are no links, and nothing else in that folder", async () => {
    const [ownDir, target] = [await makeOwnDir(), await makeOwnDir()]
    await writeFile(join(target, "file"), "")
    await symlink(target, join(ownDir, "sockets-linked"))
    await writeFile(join(ownDir, "sockets-file"), "")
    await mkdir(join(ownDir, "other"))
    await removeLeftSocketFolders(ownDir)
    expect((await readdir(ownDir)).toSorted()).toEqual(["other", "sockets-file", "sockets-linked"])
    expect(await readdir(target)).toEqual(["file"])
  })

  it.runIf(isRoot)("are not those of another user", async () => {
    const ownDir = await makeOwnDir()
    const theirs = join(ownDir, "sockets-theirs")
    await mkdir(theirs)
    await writeFile(join(theirs, "file"), "")
    await chown(theirs, OTHER_UID, OTHER_UID)
    await removeLeftSocketFolders(ownDir)
    expect(await readdir(theirs)).toEqual(["file"])
  })
})

async function greetingOf(socket: string): Promise<string> {
  return (await promisify(execFile)(process.execPath, ["-e", GREETED, socket])).stdout
}
