import { execFileSync } from "node:child_process"
import { link, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { readSmallToolWrittenFile } from "../../../container/sandbox/workspace.ts"

let workspace: string

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), "lathe-workspace-"))
})

afterEach(() => rm(workspace, { recursive: true, force: true }))

test("a small file is read into memory, and a larger one is not", async () => {
  const path = join(workspace, "file")
  await writeFile(path, "text")
  expect(readSmallToolWrittenFile(path, 4)).toEqual(Buffer.from("text"))
  expect(readSmallToolWrittenFile(path, 3)).toBeNull()
})

test("a link, a file with two names, and a pipe are refused", async () => {
  const path = join(workspace, "file")
  await writeFile(path, "text")
  await symlink("file", join(workspace, "symbolic"))
  await link(path, join(workspace, "hard"))
  execFileSync("mkfifo", [join(workspace, "pipe")])
  expect(() => readSmallToolWrittenFile(join(workspace, "symbolic"), 10)).toThrow("ELOOP")
  expect(() => readSmallToolWrittenFile(join(workspace, "hard"), 10)).toThrow("not a plain file")
  expect(() => readSmallToolWrittenFile(join(workspace, "pipe"), 10)).toThrow("not a plain file")
})
