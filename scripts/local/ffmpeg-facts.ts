import { createHash } from "node:crypto"
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs"
import { delimiter, join, resolve } from "node:path"

const FOLDER = resolve("node_modules/.cache/ffmpeg-facts")

/** Where the set-up notes what an ffmpeg knows; another one by the same name has another place. */
export function factsPath(program: string, folder: string = FOLDER): string | null {
  const path = findProgram(program)
  if (path === null) return null
  const { size, mtimeMs } = statSync(path)
  const identity = createHash("sha256").update(`${path} ${size} ${mtimeMs}`).digest("hex")
  return join(folder, identity.slice(0, 32))
}

/** What was noted of an ffmpeg, as the Worker's setting FFMPEG_FACTS has it; `none` where nothing was. */
export function readNotedFacts(program: string, folder: string = FOLDER): string {
  const path = factsPath(program, folder)
  return path !== null && existsSync(path) ? readFileSync(path, "utf8") : "none"
}

function findProgram(program: string): string | null {
  const places = program.includes("/")
    ? [program]
    : (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, program))
  const path = places.find((place) => existsSync(place))
  return path === undefined ? null : realpathSync(path)
}
