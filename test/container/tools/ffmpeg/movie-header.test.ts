import { execFile } from "node:child_process"
import { mkdtempDisposable, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { readMovieHeader } from "../../../../container/tools/ffmpeg/movie-header.ts"

test.each([2n ** 53n, 2n ** 63n - 1n, 2n ** 64n - 1n])(
  "a box of %d bytes, an impossible size, ends the search for the index",
  async (size) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "movie-header-"))
    const head = Buffer.alloc(2000)
    head.writeUInt32BE(1)
    head.write("free", 4, "latin1")
    head.writeBigUInt64BE(size, 8)
    const path = join(folder.path, "input.mp4")
    await writeFile(path, head)
    expect(await readMovieHeader(path)).toEqual({
      isBeforeMedia: false,
      isEncrypted: false,
      isHidden: false,
    })
  },
)

const FILM = "-f lavfi -i testsrc2=s=64x64:r=10:d=2 -f lavfi -i sine=d=2 -c:v mpeg4 -c:a aac"

test.each<[what: string, words: string, isHidden: boolean]>([
  ["a film", "-i in.mp4 -c copy out.mp4", false],
  ["a copy from the middle of a film", "-ss 1.3 -i in.mp4 -c copy out.mp4", false],
  ["a film in fragments", "-i in.mp4 -c copy -movflags empty_moov+frag_keyframe out.mp4", false],
  ["a copy from past the end of a film", "-ss 500 -i in.mp4 -c copy out.mp4", true],
])("%s (%s) hides all its samples: %s", async (_, words, isHidden) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "movie-header-"))
  for (const line of [`${FILM} in.mp4`, words]) {
    await promisify(execFile)("ffmpeg", ["-v", "error", ...line.split(" ")], { cwd: folder.path })
  }
  expect(await readMovieHeader(join(folder.path, "out.mp4"))).toMatchObject({ isHidden })
})
