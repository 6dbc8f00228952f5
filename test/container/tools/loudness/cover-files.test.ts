import { mkdtempDisposable, readFile, symlink, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import {
  COVER_TAGS_FILE_NAME,
  nameCoverFiles,
  writeCoverTagsFile,
} from "../../../../container/tools/loudness/cover-files.ts"

const [cover] = nameCoverFiles([
  { index: 1, type: "cover", codec: "png", tag: null, size: null, tags: {} },
])
if (!cover) throw new Error("There is no cover.")

test("a cover becomes a comment", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "cover-files-"))
  await writeFile(join(folder.path, cover.name), "a picture")
  await writeCoverTagsFile(folder.path, [cover])
  const text = await readFile(join(folder.path, COVER_TAGS_FILE_NAME), "utf8")
  const [, comment = ""] = /^METADATA_BLOCK_PICTURE=(.*)$/m.exec(text) ?? []
  expect(Buffer.from(comment.replaceAll("\\", ""), "base64").toString("latin1")).toContain(
    "a picture",
  )
})

test("a cover that is a link is rejected", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "cover-files-"))
  await writeFile(join(folder.path, "secret"), "a secret")
  await symlink("secret", join(folder.path, cover.name))
  await expect(writeCoverTagsFile(folder.path, [cover])).rejects.toThrow("ELOOP")
})

test("an existing file is never overwritten by comments", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "cover-files-"))
  await writeFile(join(folder.path, cover.name), "a picture")
  await writeFile(join(folder.path, "precious"), "as it was")
  await symlink("precious", join(folder.path, COVER_TAGS_FILE_NAME))
  await expect(writeCoverTagsFile(folder.path, [cover])).rejects.toThrow("EEXIST")
  expect(await readFile(join(folder.path, "precious"), "utf8")).toBe("as it was")
})

test("covers too large for memory are left out", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "cover-files-"))
  await writeFile(join(folder.path, cover.name), "")
  await truncate(join(folder.path, cover.name), 4 * 1024 ** 3)
  await writeCoverTagsFile(folder.path, [cover])
  expect(await readFile(join(folder.path, COVER_TAGS_FILE_NAME), "utf8")).toBe(";FFMETADATA1\n")
})
