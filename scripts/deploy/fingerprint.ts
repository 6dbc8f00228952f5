import { createHash } from "node:crypto"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { CLONE } from "./config.ts"
import type { Config } from "./config.ts"

/** The files that Worker and image are built from. */
const SOURCES = [
  "src/**/*",
  "container/**/*",
  "requirements/fetch.txt",
  "requirements/speech.txt",
  "package.json",
  "package-lock.json",
  ".dockerignore",
]
const LEFT_OUT = ["container/launcher/build/**"]

/** A hash of the configuration, of the images' base and of all sources of a deployment. */
export function fingerprintOf(config: Config, base: string): string {
  const hash = createHash("sha256").update(JSON.stringify([config, base]))
  const entries = globSync(SOURCES, { cwd: CLONE, exclude: LEFT_OUT, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  for (const path of paths.toSorted()) {
    hash.update(`\0${path.slice(CLONE.length)}\0`).update(readFileSync(path))
  }
  return hash.digest("hex")
}
