import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, it } from "vitest"
import {
  findForbiddenImports,
  hasCurrentModulesTable,
  replaceModulesTable,
} from "../../../scripts/check/modules.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

/** Problems of a project of these files; each of its folders has a file in any case. */
async function problemsOf(files: Record<string, string>) {
  await using root = await makeTempFolder("modules")
  const mains = { "container/main.ts": "", "scripts/main.ts": "", "src/main.ts": "" }
  for (const [path, text] of Object.entries({ ...mains, "test/main.ts": "", ...files })) {
    mkdirSync(dirname(join(root.path, path)), { recursive: true })
    writeFileSync(join(root.path, path), text)
  }
  return findForbiddenImports(root.path)
}

it("accepts imports of the table, within a module and by entry files", async () => {
  const files = {
    "src/index.ts": `import { a } from "./api/routes/a.ts"\nimport { b } from "./scheduler/b.ts"\n`,
    "src/api/routes/a.ts": `import type { B } from "../input/b.ts"\nimport { k } from "../../kinds/k.ts"\n`,
    "src/db/jobs.ts": `import { eq } from "drizzle-orm"\nimport { jobs } from "./schema/jobs.ts"\n`,
    "container/tools/a.ts": `import { run } from "../sandbox/start.ts"\nimport { x } from "../../src/ffmpeg/x.ts"\n`,
  }
  expect(await problemsOf(files)).toEqual([])
})

it("names an import against the flow, by types, by several lines and at run time too", async () => {
  const files = {
    "src/kinds/a.ts": `import type { Jobs } from "../db/jobs.ts"\n`,
    "src/runner/b.ts": `import {\n  settle,\n  cancel,\n} from "../jobs/settle.ts"\n`,
    "container/sandbox/c.ts": `await import("../../src/kinds/k.ts")\n`,
  }
  expect(await problemsOf(files)).toEqual([
    expect.stringMatching(/^container\/sandbox\/c.ts imports src\/kinds\/k.ts: .* may import /),
    expect.stringMatching(/^src\/kinds\/a.ts imports src\/db\/jobs.ts: src\/kinds may import /),
    expect.stringMatching(
      /^src\/runner\/b.ts imports src\/jobs\/settle.ts: src\/runner may import /,
    ),
  ])
})

it("names a package in a module that it is not for", async () => {
  const files = {
    "src/api/a.ts": `import { eq } from "drizzle-orm/d1"\n`,
    "src/contract/b.ts": `import { z } from "zod"\nimport mime from "mime"\n`,
    "src/jobs/c.ts": `import type { Context } from "hono"\n`,
  }
  expect(await problemsOf(files)).toEqual([
    "src/api/a.ts imports drizzle-orm/d1, which is for src/db, src/db/schema, scripts, test.",
    "src/contract/b.ts imports mime: src/contract may import ipaddr.js, zod.",
    "src/jobs/c.ts imports hono, which is for src, src/api, src/dashboard, src/runner, scripts, test.",
  ])
})

it("writes the table between its marks, and accepts it with aligned columns", () => {
  const [begin, end] = [
    "<!-- modules, from scripts/check/modules.ts -->",
    "<!-- end of modules -->",
  ]
  const written = replaceModulesTable(`before\n${begin}\nold\n${end}\nafter\n`)
  expect(written).toMatch(/^before\n.*\| `src\/kinds` \| .*\nafter\n$/s)
  expect(hasCurrentModulesTable(written)).toBe(true)
  expect(hasCurrentModulesTable(written.replaceAll(" |", "   |"))).toBe(true)
  expect(hasCurrentModulesTable(written.replace("`src/kinds`", "`src/sorts`"))).toBe(false)
  expect(() => replaceModulesTable("no marks")).toThrow("no marks")
})
