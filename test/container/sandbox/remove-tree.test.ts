import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, beforeEach, expect, test } from "vitest"
import { removeTree } from "../../../container/sandbox/remove-tree.ts"
import { bury } from "./tiers/obstacles.ts"

const OTHER_UID = 23_456
/** Number of files whose removal takes longer than an exchange. */
const FILES = 2000
const isRoot = process.getuid?.() === 0

let parent: string
let folder: string

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "lathe-tree-"))
  folder = join(parent, "folder")
  await mkdir(folder)
})

afterEach(() => rm(parent, { recursive: true, force: true }))

async function makeFiles(path: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await writeFile(join(path, `${index}`), "x")
}

test.for([3, 100])("a folder of %i files is removed, with large ones", async (count) => {
  await makeFiles(folder, count)
  await truncate(join(folder, "0"), 10 ** 9)
  await symlink("nowhere", join(folder, "symbolic"))
  await removeTree(folder)
  expect(existsSync(folder)).toBe(false)
})

test("a folder is removed whatever its depth, names and modes", async () => {
  const notText = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe])])
  await writeFile(notText, "")
  await mkdir(join(folder, "write-only", "folder"), { recursive: true })
  await mkdir(Buffer.concat([notText, Buffer.from("-folder")]))
  await writeFile(join(folder, "write-only", "file"), "")
  await chmod(join(folder, "write-only", "folder"), 0)
  await chmod(join(folder, "write-only"), 0o300)
  await bury(folder, 50)
  await removeTree(folder)
  expect(await readdir(parent)).toEqual([])
})

test("a link itself is removed, and its target stays", async () => {
  const outside = join(parent, "outside")
  await mkdir(outside)
  await writeFile(join(outside, "file"), "")
  await symlink(outside, join(folder, "link"))
  await removeTree(folder)
  await symlink(outside, folder)
  await removeTree(folder)
  expect(await readdir(parent)).toEqual(["outside"])
  expect(await readdir(outside)).toEqual(["file"])
})

test("a folder that another user exchanges for a link causes no removal outside", async ({
  skip,
}) => {
  skip(!isRoot, "only root can be another user")
  const swap = await buildSwap()
  if (swap === null) return skip("this machine has no C compiler")
  const [inner, link] = [join(folder, "inner"), join(folder, "link")]
  const outside = join(parent, "outside")
  await Promise.all([mkdir(inner), mkdir(outside)])
  await Promise.all([makeFiles(inner, FILES), makeFiles(outside, FILES)])
  await symlink(outside, link)
  await Promise.all([folder, inner].map((path) => chown(path, OTHER_UID, OTHER_UID)))
  const other = spawn(swap, [inner, link], { uid: OTHER_UID, gid: OTHER_UID })
  const exited = once(other, "exit")
  await once(other.stdout, "data")
  await removeTree(folder).catch(() => undefined)
  expect(await exited).toEqual([0, null])
  expect((await lstat(inner)).isSymbolicLink()).toBe(true)
  expect(await readdir(outside)).toHaveLength(FILES)
  await removeTree(folder)
  expect(await readdir(parent)).not.toContain("folder")
  expect(await readdir(outside)).toHaveLength(FILES)
})

/** Builds the program that the other user runs; null without a compiler. */
async function buildSwap(): Promise<string | null> {
  const program = join(parent, "swap")
  await chmod(parent, 0o711)
  return await promisify(execFile)("cc", ["-o", program, join(import.meta.dirname, "swap.c")]).then(
    () => program,
    () => null,
  )
}
