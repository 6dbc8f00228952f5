import { globSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"

/** The package that an import names, where it is none of Node's own and no file. */
const IMPORT = /^(?:import|export) .*?from "(?!node:|\.)((?:@[^/"]+\/)?[^/"]+)/gm

test("the image has each package that the runner imports, and no other", () => {
  const sources = globSync(["container/**/*.ts", "src/contract/**/*.ts"])
  const imported = sources.flatMap((path) =>
    Array.from(readFileSync(path, "utf8").matchAll(IMPORT), ([, name = ""]) => name),
  )
  const sorted = [...new Set(imported)].toSorted()
  const [, list = ""] =
    /const kept =[^[]*(\[[^\]]*\])/.exec(readFileSync("container/Dockerfile", "utf8")) ?? []
  expect(JSON.parse(list)).toEqual(sorted)
})
