import { globSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"

/** Functions of storage that write, by the verb that their name begins with. */
const WRITES =
  /^(?:abort|apply|claim|close|copy|create|delete|end|finish|insert|mark|note|open|postpone|remove|reset|revoke|rotate|run|stop|store|write)[A-Z]/

test.each(globSync("src/{http,resources}/**/*.ts"))("%s writes no D1 and no R2", (path) => {
  const source = readFileSync(path, "utf8")
  const imports = source.matchAll(/^import \{([^}]*)\} from "[^"]*\/storage\/[^"]*"/gm)
  const names = [...imports].flatMap(([, list = ""]) => list.split(",").map((name) => name.trim()))
  expect(names.filter((name) => WRITES.test(name))).toEqual([])
  expect(source).not.toMatch(
    /\bMEDIA\.(?:put|delete|createMultipartUpload|resumeMultipartUpload)\b/,
  )
})
