import { globSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { z } from "zod"

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync("package.json", "utf8")))

// test/system/site/examples.slow.test.ts runs these commands, except those of commands-not-run.ts.
test.each([...globSync("docs/operate/*.md"), "docs/start.md", "README.md", "CONTRIBUTING.md"])(
  "every npm command of %s exists",
  (path) => {
    const commands = [...readFileSync(path, "utf8").matchAll(/\bnpm run (?:-s )?([a-z][\w:]*)/g)]
    const missing = commands.filter(([, name = ""]) => !(name in scripts)).map(([text]) => text)
    expect(missing).toEqual([])
  },
)
