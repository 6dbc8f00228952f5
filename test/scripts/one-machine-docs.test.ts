import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import packageJson from "../../package.json" with { type: "json" }
import { makeTempFolder } from "../../scripts/local/temp-folder.ts"
import { isSystemError } from "../../scripts/local/system-error.ts"

const text = readFileSync("docs/operate-one-machine.md", "utf8")

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
