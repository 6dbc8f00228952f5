import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { makeTempFolder } from "../../scripts/cli/temp-folder.ts"

/** A film with picture and sound in a folder that goes with it. */
export async function makeFilm(name = "film.mp4", seconds = 4) {
  const folder = await makeTempFolder("film")
  const path = join(folder.path, name)
  await promisify(execFile)("ffmpeg", [
    ...sourceOf(`testsrc2=size=640x360:rate=25:duration=${seconds}`),
    ...sourceOf(`sine=frequency=440:duration=${seconds}`),
    ..."-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 25 -c:a aac".split(" "),
    "-metadata:s:a:0",
    "language=fra",
    path,
  ])
  return { path, name, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

function sourceOf(filter: string): string[] {
  return ["-f", "lavfi", "-i", filter]
}
