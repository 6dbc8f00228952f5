import { buildFfmpeg } from "./build.ts"
import { openFfmpegSource } from "./debian-source.ts"

/**
 * Builds ffmpeg on Debian. `node main.ts newest` prints the newest version of the source. `node
 * main.ts build FOLDER` builds that version with the installed packages.
 */
const [task, folder] = process.argv.slice(2)
if (task === "newest") {
  await using source = await openFfmpegSource()
  console.log(source.version)
} else if (task === "build" && folder !== undefined) {
  await using source = await openFfmpegSource()
  const { version, libraries, leftOut } = await buildFfmpeg(source, folder)
  console.log(`ffmpeg ${version} with ${libraries.join(", ")}`)
  if (leftOut.length > 0) console.log(`This suite lacks ${leftOut.join(", ")}.`)
} else {
  throw new Error("Usage: main.ts newest | build FOLDER")
}
