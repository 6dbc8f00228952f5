import { globSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"

/** Functions of `src/db` and `src/objects` that write, by the verb that their name begins with. */
const WRITES =
  /^(?:abort|apply|claim|close|copy|create|delete|end|finish|insert|mark|note|postpone|remove|reset|revoke|rotate|run|stop|store|write)[A-Z]/

/**
 * Modules whose writers routes call: they store the bytes of the request itself, and links, which
 * belong to no job.
 */
const OF_BODIES =
  "objects/(?:incoming-file|tus-object|tus-writer)|db/files/(?:tus-uploads|upload-links)"

test.each(globSync("src/api/**/*.ts"))("%s writes no D1 and no R2", (path) => {
  const source = readFileSync(path, "utf8")
  const imports = source.matchAll(
    new RegExp(`^import \\{([^}]*)\\} from "[./]*/(?!${OF_BODIES})(?:db|objects)/[^"]*"`, "gm"),
  )
  const names = [...imports].flatMap(([, list = ""]) => list.split(",").map((name) => name.trim()))
  expect(names.filter((name) => WRITES.test(name))).toEqual([])
  expect(source).not.toMatch(
    /\bMEDIA\.(?:put|delete|createMultipartUpload|resumeMultipartUpload)\b/,
  )
})
