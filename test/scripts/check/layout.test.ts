import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, it } from "vitest"
import { findLayoutProblems } from "../../../scripts/check/layout.ts"
import type { LayoutLimits } from "../../../scripts/check/layout.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

const LIMITS = { filesPerFolder: 2, largeFolders: {}, splinterLines: 2, splintersMax: 0 }

/** Problems of a project of these files; each of its folders has a file in any case. */
async function problemsOf(files: Record<string, string>, limits: Partial<LayoutLimits> = {}) {
  await using root = await makeTempFolder("layout")
  const mains = { "container/main.ts": "", "scripts/main.ts": "", "src/main.ts": "" }
  for (const [path, text] of Object.entries({ ...mains, "test/main.ts": "", ...files })) {
    mkdirSync(dirname(join(root.path, path)), { recursive: true })
    writeFileSync(join(root.path, path), text)
  }
  return findLayoutProblems(root.path, { ...LIMITS, ...limits })
}

it("names a folder with more files than its ceiling, whatever files these are", async () => {
  const files = { "src/a.ts": "", "src/b.css": "", "src/deep/c.ts": "" }
  expect(await problemsOf(files)).toEqual(["src has 3 files; 2 is its ceiling."])
  const largeFolders = { src: { filesMax: 3, reason: "to be divided" } }
  expect(await problemsOf(files, { largeFolders })).toEqual([])
  expect(await problemsOf({ ...files, "src/d.ts": "" }, { largeFolders })).toEqual([
    "src has 4 files; 3 is its ceiling.",
  ])
})

it("names an exception that a folder no longer needs", async () => {
  const largeFolders = { src: { filesMax: 3, reason: "to be divided" } }
  expect(await problemsOf({}, { largeFolders })).toEqual([
    "src needs no exception: it has at most 2 files.",
  ])
})

it("counts short files with one importer, by types and at run time too", async () => {
  const files = {
    "src/main.ts": `import { a } from "./parts/a.ts"\nimport { many } from "./parts/many.ts"\n`,
    "src/parts/a.ts": "1\n2\n",
    "src/parts/many.ts": "1\n2\n3\n",
    "container/main.ts": `import type { B } from "../src/b.ts"\nawait import("../scripts/c.ts")\n`,
    "src/b.ts": "1\n",
    "scripts/c.ts": "1\n",
  }
  const sentence = "3 files have at most 2 lines and one importer; 2 may: "
  expect(await problemsOf(files, { splintersMax: 3 })).toEqual([])
  expect(await problemsOf(files, { splintersMax: 2 })).toEqual([
    `${sentence}scripts/c.ts, src/b.ts, src/parts/a.ts.`,
  ])
})

it("counts no short file with two importers, and none that only a test imports", async () => {
  const files = {
    "src/main.ts": `import { a } from "./a.ts"\n`,
    "scripts/main.ts": `import { a } from "../src/a.ts"\n`,
    "src/a.ts": "1\n",
    "container/b.ts": "1\n",
    "test/main.ts": `import { b } from "../container/b.ts"\nimport { c } from "./c.ts"\n`,
    "test/c.ts": "1\n",
  }
  expect(await problemsOf(files)).toEqual([])
})
