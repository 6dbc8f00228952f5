import { build } from "./build.ts"
import { openDebianSource } from "./debian-source.ts"

/**
 * Builds ffmpeg on Debian: `node main.ts newest` prints the newest version of the source, and
 * `node main.ts build FOLDER` builds it, with the packages that are installed.
 */
const [task, folder] = process.argv.slice(2)
if (task === "newest") {
  await using source = await openDebianSource()
  console.log(source.version)
} else if (task === "build" && folder !== undefined) {
  await using source = await openDebianSource()
  const { version, libraries, leftOut } = await build(source, folder)
  console.log(`ffmpeg ${version} with ${libraries.join(", ")}`)
  if (leftOut.length > 0) console.log(`This suite lacks ${leftOut.join(", ")}.`)
} else {
  throw new Error("main.ts newest | build FOLDER")
}
