import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { listBundleCandidateFiles } from "../../../container/tasks/outputs/assign-bundle-files.ts"
import { findMissingOutputFailure } from "../../../container/tasks/outputs/store-outputs.ts"

let workspace: string

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), "lathe-odd-"))
})

afterEach(() => rm(workspace, { recursive: true, force: true }))

test("an unreadable output is the caller's failure", async () => {
  await writeFile(join(workspace, "out.mp4"), "x", { mode: 0 })
  const failure = findMissingOutputFailure(workspace, [{ key: "out_1", name: "out.mp4" }], [])
  expect(failure).toMatchObject({
    blame: "caller",
    failure: {
      code: "no_output",
      message: 'The output out_1 ("out.mp4") is not a plain file that can be read.',
    },
  })
})

test("a bundle has no folders, unreadable files or names that are not UTF-8", async () => {
  await writeFile(join(workspace, "1.ts"), "x")
  await writeFile(join(workspace, "2.ts"), "x", { mode: 0 })
  await writeFile(Buffer.concat([Buffer.from(`${workspace}/3`), Buffer.from([0xff])]), "x")
  await mkdir(join(workspace, "4.ts"))
  const finished = { workspace, order: { inputs: [] }, signal: new AbortController().signal }
  const files = await listBundleCandidateFiles(finished, [{ key: "out_1", name: "out.m3u8" }])
  expect([...files.keys()]).toEqual(["1.ts"])
})
