import { createHash } from "node:crypto"
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs"
import { delimiter, join, resolve } from "node:path"

const FOLDER = resolve("node_modules/.cache/ffmpeg-facts")

/**
 * Returns the path of the file in which `npm run setup` stores the capabilities of an ffmpeg. The
 * path depends on the path, size and modification time of the program. Returns null if the program
 * does not exist.
 */
export function findFfmpegCapabilitiesPath(
  program: string,
  folder: string = FOLDER,
): string | null {
  const path = findProgram(program)
  if (path === null) return null
  const { size, mtimeMs } = statSync(path)
  const identity = createHash("sha256").update(`${path} ${size} ${mtimeMs}`).digest("hex")
  return join(folder, identity.slice(0, 32))
}

/**
 * Reads the stored capabilities of an ffmpeg for the Worker's setting FFMPEG_FACTS. Returns `none`
 * if no capabilities are stored.
 */
export function readStoredFfmpegCapabilities(program: string, folder: string = FOLDER): string {
  const path = findFfmpegCapabilitiesPath(program, folder)
  return path !== null && existsSync(path) ? readFileSync(path, "utf8") : "none"
}

function findProgram(program: string): string | null {
  const places = program.includes("/")
    ? [program]
    : (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, program))
  const path = places.find((place) => existsSync(place))
  return path === undefined ? null : realpathSync(path)
}
