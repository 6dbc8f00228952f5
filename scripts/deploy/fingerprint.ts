import { createHash } from "node:crypto"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { CLONE } from "./config.ts"
import type { Config } from "./config.ts"

/** Everything that the Worker and the image are made of. */
const SOURCES = ["src/**/*", "container/**/*", "package.json", ".dockerignore"]
const LEFT_OUT = ["container/launcher/build/**"]

/** One text for all that a deployment is made of: the same again where nothing has changed. */
export function fingerprintOf(config: Config): string {
  const hash = createHash("sha256").update(JSON.stringify(config))
  const entries = globSync(SOURCES, { cwd: CLONE, exclude: LEFT_OUT, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  for (const path of paths.toSorted()) {
    hash.update(`\0${path.slice(CLONE.length)}\0`).update(readFileSync(path))
  }
  return hash.digest("hex")
}
