import { execFile } from "node:child_process"
import { mkdtemp, open, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { crc32 } from "node:zlib"
import { afterEach, beforeEach, expect, test } from "vitest"
import { countUtf8Bytes } from "../../src/contract/bundle.ts"
import { computeZipLayout } from "../../src/objects/zip.ts"
import type { ZipEntry } from "../../src/objects/zip.ts"

const run = promisify(execFile)
const AT = new Date("2026-11-21T10:20:30Z")
const LOOK = `import json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
names = sys.argv[2:] or archive.namelist()
print(json.dumps({
  "files": [[i.filename, i.file_size, i.compress_type, list(i.date_time)] for i in archive.infolist()],
  "read": [archive.read(name).decode() for name in names],
}))`

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-zip-"))
})

afterEach(() => rm(folder, { recursive: true }))

/** Writes an archive of texts; a number stands for a run of zeros that takes no space. */
async function write(contents: [string, string | number][]): Promise<string> {
  const entries = contents.map(([name, content]): ZipEntry => {
    if (typeof content === "number") return { name, sizeBytes: content, crc: 0 }
    return { name, sizeBytes: countUtf8Bytes(content), crc: crc32(content) }
  })
  const { headers, directory, sizeBytes } = computeZipLayout(entries, AT)
  const path = join(folder, "made.zip")
  await using file = await open(path, "w")
  let at = 0
  for (const [index, [, content]] of contents.entries()) {
    const header = headers[index] ?? new Uint8Array()
    await file.write(header, 0, header.length, at)
    at += header.length
    if (typeof content === "string") await file.write(content, at)
    at += entries[index]?.sizeBytes ?? 0
  }
  await file.write(directory, 0, directory.length, at)
  expect((await file.stat()).size).toBe(sizeBytes)
  return path
}

async function look(path: string, ...names: string[]) {
  const { stdout } = await run("python3", ["-c", LOOK, path, ...names], {
    maxBuffer: 16 * 1024 ** 2,
  })
  return JSON.parse(stdout) as unknown
}

test("an archive holds files unchanged, with UTF-8 names and their time", async () => {
  const path = await write([
    ["a.txt", "one"],
    ["ä 日本%20.txt", "two"],
    ["empty", ""],
  ])
  const at = [2026, 11, 21, 10, 20, 30]
  expect(await look(path)).toEqual({
    files: [
      ["a.txt", 3, 0, at],
      ["ä 日本%20.txt", 3, 0, at],
      ["empty", 0, 0, at],
    ],
    read: ["one", "two", ""],
  })
  await run("unzip", ["-t", path])
})

test("an archive with files and offsets beyond 4 GiB can be read", async () => {
  const large = 5 * 1024 ** 3
  const path = await write([
    ["before", "one"],
    ["large", large],
    ["after", "two"],
  ])
  expect(await look(path, "before", "after")).toMatchObject({
    files: [
      ["before", 3, 0, expect.anything()],
      ["large", large, 0, expect.anything()],
      ["after", 3, 0, expect.anything()],
    ],
    read: ["one", "two"],
  })
  await run("unzip", ["-t", path, "after"])
})

test("an archive of more files than 16 bits count can be read", async () => {
  const path = await write(Array.from({ length: 70_000 }, (_, index) => [`${index}`, "x"]))
  const { stdout } = await run("unzip", ["-tq", path])
  expect(stdout).toContain("No errors detected")
  expect(await look(path, "69999")).toMatchObject({ read: ["x"] })
})

test("an empty archive is valid", async () => {
  expect(await look(await write([]))).toEqual({ files: [], read: [] })
})
