import { execFile } from "node:child_process"
import { once } from "node:events"
import { existsSync, statSync } from "node:fs"
import { chown, mkdir, readdir, symlink, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, describe, expect, it } from "vitest"
import {
  createSocketFolder,
  removeAbandonedSocketFolders,
} from "../../../container/egress/socket-folder.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

const OTHER_UID = 23_456
const isRoot = process.getuid?.() === 0
const isLinux = process.platform === "linux"

/** Program of another process that connects to a socket and prints its greeting. */
const GREETED = "require('node:net').connect(process.argv[1]).pipe(process.stdout)"

const opened = new AsyncDisposableStack()
afterAll(async () => await opened.disposeAsync())

async function makeOwnDir(name = "own"): Promise<string> {
  const path = join(opened.use(await makeTempFolder("sockets")).path, name)
  await mkdir(path)
  return path
}

describe("a folder for sockets", () => {
  it("exists in its process's folder, for this user only, until its disposal", async () => {
    const ownDir = await makeOwnDir()
    {
      await using folder = await createSocketFolder(ownDir)
      expect(folder.path.startsWith(join(ownDir, "sockets-"))).toBe(true)
      expect(statSync(folder.path).mode & 0o777).toBe(0o700)
      await writeFile(join(folder.path, "s"), "")
    }
    expect(await readdir(ownDir)).toEqual([])
  })

  it.runIf(isLinux)(
    "has sockets that other processes can reach if the path is too long",
    async () => {
      const ownDir = await makeOwnDir("long".repeat(50))
      {
        await using folder = await createSocketFolder(ownDir)
        const socket = join(folder.path, "elevenbytes")
        const server = createServer((client) => client.end("hello"))
        await once(server.listen(socket), "listening")
        const [name = ""] = await readdir(ownDir)
        expect(await readdir(join(ownDir, name))).toEqual(["elevenbytes"])
        expect(await greetingOf(socket)).toBe("hello")
        server.close()
      }
      expect(await readdir(ownDir)).toEqual([])
    },
  )
})

describe("leftover folders of a killed process", () => {
  it("are removed from the same folder", async () => {
    const [ownDir, otherDir] = [await makeOwnDir(), await makeOwnDir()]
    const left = await createSocketFolder(ownDir)
    await using other = await createSocketFolder(otherDir)
    await writeFile(join(left.path, "s"), "")
    await removeAbandonedSocketFolders(ownDir)
    expect([left, other].map(({ path }) => existsSync(path))).toEqual([false, true])
  })

  it("do not include links or other entries of that folder", async () => {
    const [ownDir, target] = [await makeOwnDir(), await makeOwnDir()]
    await writeFile(join(target, "file"), "")
    await symlink(target, join(ownDir, "sockets-linked"))
    await writeFile(join(ownDir, "sockets-file"), "")
    await mkdir(join(ownDir, "other"))
    await removeAbandonedSocketFolders(ownDir)
    expect((await readdir(ownDir)).toSorted()).toEqual(["other", "sockets-file", "sockets-linked"])
    expect(await readdir(target)).toEqual(["file"])
  })

  it.runIf(isRoot)("do not include those of another user", async () => {
    const ownDir = await makeOwnDir()
    const theirs = join(ownDir, "sockets-theirs")
    await mkdir(theirs)
    await writeFile(join(theirs, "file"), "")
    await chown(theirs, OTHER_UID, OTHER_UID)
    await removeAbandonedSocketFolders(ownDir)
    expect(await readdir(theirs)).toEqual(["file"])
  })
})

async function greetingOf(socket: string): Promise<string> {
  return (await promisify(execFile)(process.execPath, ["-e", GREETED, socket])).stdout
}
