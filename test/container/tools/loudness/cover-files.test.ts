import { mkdtempDisposable, readFile, symlink, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import {
  COVER_TAGS_NAME,
  coverFiles,
  writeCoverTags,
} from "../../../../container/tools/loudness/cover-files.ts"

const [cover] = coverFiles([
  { index: 1, type: "cover", codec: "png", tag: null, size: null, tags: {} },
])
if (!cover) throw new Error("There is no cover.")

test("a cover becomes a comment", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "cover-files-"))
  await writeFile(join(folder.path, cover.name), "a picture")
  await writeCoverTags(folder.path, [cover])
  const text = await readFile(join(folder.path, COVER_TAGS_NAME), "utf8")
  const [, comment = ""] = /^METADATA_BLOCK_PICTURE=(.*)$/m.exec(text) ?? []
  expect(Buffer.from(comment.replaceAll("\\", ""), "base64").toString("latin1")).toContain(
    "a picture",
  )
})

test("a cover that is a link is not followed", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "cover-files-"))
  await writeFile(join(folder.path, "secret"), "a secret")
  await symlink("secret", join(folder.path, cover.name))
  await expect(writeCoverTags(folder.path, [cover])).rejects.toThrow("ELOOP")
})

test("comments are written to no file that is there already", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "cover-files-"))
  await writeFile(join(folder.path, cover.name), "a picture")
  await writeFile(join(folder.path, "precious"), "as it was")
  await symlink("precious", join(folder.path, COVER_TAGS_NAME))
  await expect(writeCoverTags(folder.path, [cover])).rejects.toThrow("EEXIST")
  expect(await readFile(join(folder.path, "precious"), "utf8")).toBe("as it was")
})

test("covers that are too large for memory become no comments", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "cover-files-"))
  await writeFile(join(folder.path, cover.name), "")
  await truncate(join(folder.path, cover.name), 4 * 1024 ** 3)
  await writeCoverTags(folder.path, [cover])
  expect(await readFile(join(folder.path, COVER_TAGS_NAME), "utf8")).toBe(";FFMETADATA1\n")
})
