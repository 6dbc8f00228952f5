import { execFile, execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, test } from "vitest"
import packageJson from "../../package.json" with { type: "json" }
import { findBrokenLinks } from "../../scripts/check/document-links.ts"
import { makeTempFolder } from "../../scripts/local/temp-folder.ts"
import { isSystemError } from "../../scripts/local/system-error.ts"

const text = readFileSync("docs/operate-one-machine.md", "utf8")

describe("links", () => {
  test("every link, anchor and mention of a page resolves", () => {
    expect(findBrokenLinks(".")).toEqual([])
  })

  test("a missing page, heading or mentioned page is named", async () => {
    await using folder = await makeTempFolder("links")
    const { path: root } = folder
    execFileSync("git", ["init", "--quiet", root])
    mkdirSync(join(root, "docs"))
    const lines = [
      "# First page",
      "[same](#first-page), [a page](docs/page.md#two-words), [the web](https://localhost/none)",
      "`[code](none.md)`",
      "```\n[fenced](none.md)\n```",
      "[gone](docs/none.md) [no heading](docs/page.md#three-words) [nor here](#second)",
    ]
    writeFileSync(join(root, "README.md"), lines.join("\n"))
    writeFileSync(join(root, "docs/page.md"), "# Page\n\n## Two `words`\n\n[up](../README.md)\n")
    writeFileSync(join(root, "code.ts"), "// docs/page.md and docs/gone.md have more.\n")
    expect(findBrokenLinks(root).toSorted()).toEqual([
      "README.md refers to README.md#second: the page has no such heading.",
      "README.md refers to docs/none.md: the file does not exist.",
      "README.md refers to docs/page.md#three-words: the page has no such heading.",
      "code.ts refers to docs/gone.md: the file does not exist.",
    ])
  })
})

test("systemd takes the unit of the documentation as it stands there", async (context) => {
  const unit = /```ini\n([\s\S]*?)```/.exec(text)?.[1] ?? ""
  expect(unit).toContain("[Service]")
  await using folder = await makeTempFolder("unit")
  const path = join(folder.path, "lathe.service")
  writeFileSync(path, unit)
  try {
    const { stdout, stderr } = await promisify(execFile)("systemd-analyze", ["verify", path])
    expect(stdout + stderr).toBe("")
  } catch (error) {
    context.skip(isSystemError(error, "ENOENT"), "systemd is not installed")
    throw error
  }
})

test("what the documentation has run is there", () => {
  const named = [...text.matchAll(/(?:npm run|scripts\/run) ([a-z]+)/g)].map(([, name]) => name)
  expect(Object.keys(packageJson.scripts)).toEqual(expect.arrayContaining(named))
  const started = /ExecStart=\/bin\/sh (\S+) start/.exec(text)?.[1] ?? ""
  expect(readFileSync(started, "utf8")).toMatch(/^#!\/bin\/sh/)
})
