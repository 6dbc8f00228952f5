import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, it } from "vitest"
import { findWordProblems } from "../../../scripts/check/words.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

/** Problems of a project with this text as a file of `src`. */
async function problemsOf(text: string, path = "src/a.ts"): Promise<string[]> {
  await using root = await makeTempFolder("words")
  const files = {
    "container/a.c": "",
    "scripts/a.ts": "",
    [path]: text,
    "src/b.ts": "",
    "test/a.ts": "",
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root.path, path)), { recursive: true })
    writeFileSync(join(root.path, path), content)
  }
  return findWordProblems(root.path)
}

it.each([
  ["/** What a job makes. */\n", 1, "What"],
  ["const a = 1\n\n// One at a time.\n", 3, "One"],
  ["/**\n * Reads a row. That is all.\n */\n", 2, "That"],
  ["// A sentence over\n// two lines. Who reads it is lost.\n", 2, "Who"],
])("names a sentence of a comment that begins with a pronoun: %j", async (text, line, word) => {
  expect(await problemsOf(text)).toEqual([
    `src/a.ts:${line}: a sentence of a comment begins with "${word}".`,
  ])
})

it("names a type that is a participle", async () => {
  expect(await problemsOf("export type Told = string\ntype Made = Told\n")).toEqual([
    'src/a.ts:1: the type "Told" is no noun of the field.',
    'src/a.ts:2: the type "Made" is no noun of the field.',
  ])
})

it("names a title of a test that begins with a pronoun", async () => {
  const text = 'it("what it says", noop)\ntest.each([1, 2])("who %s is", noop)\nit("reads", noop)\n'
  expect(await problemsOf(text)).toEqual([
    'src/a.ts:1: the title "what it says" begins with a pronoun.',
    'src/a.ts:2: the title "who %s is" begins with a pronoun.',
  ])
})

it.each([
  ['const meta = { description: "What the job made." }\n', 1, "What"],
  ["const size = z\n  .int(`Expected ${most}. There are more.`)\n", 2, "There"],
  ['const message = "ffmpeg has no end; that is refused"\n', 1, "that"],
  ['const message = "one of many"\n', 1, "one"],
])("names a public sentence that begins with a pronoun: %j", async (text, line, word) => {
  expect(await problemsOf(text, "src/kinds/a.ts")).toEqual([
    `src/kinds/a.ts:${line}: a sentence of a string begins with "${word}".`,
  ])
})

it("accepts public sentences with a noun as their subject, and comments that quote others", async () => {
  const text = `/** Reads a job. "That is it" is a text. */
const description = "Time at which the service removes the job. Without it, there is no end."
const message = \`\${one} of \${what} is not one of them\`
`
  expect(await problemsOf(text, "src/hints/a.ts")).toEqual([])
})

it("accepts plain sentences, strings with pronouns and names that contain a participle", async () => {
  const text = `/** Reads what a runner reports. One-time setup. */
const question = "What is wrong?"
// Drop a reported problem after ten minutes: the next container may not have it.
type ToldOnce = string
type MadeFile = string
`
  expect(await problemsOf(text)).toEqual([])
})
