import { mkdtempDisposable, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { readMovieHeader } from "../../../container/tools/movie-header.ts"

test.each([2n ** 53n, 2n ** 63n - 1n, 2n ** 64n - 1n])(
  "a box of %d bytes, which no file has, ends the search for an index",
  async (size) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "movie-header-"))
    const head = Buffer.alloc(2000)
    head.writeUInt32BE(1)
    head.write("free", 4, "latin1")
    head.writeBigUInt64BE(size, 8)
    const path = join(folder.path, "input.mp4")
    await writeFile(path, head)
    expect(await readMovieHeader(path)).toEqual({ isBeforeMedia: false, isEncrypted: false })
  },
)
