import { mkdir, readFile, realpath, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import {
  makeBuildStamp,
  START_SCRIPT_ENVIRONMENT,
  makeStartScriptArguments,
} from "../../../scripts/start/bundles.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

const MINUTE_MS = 60_000

test("a file that changes during a build counts as changed", async () => {
  await using folder = await makeTempFolder("built")
  const path = join(folder.path, "source.ts")
  await writeFile(path, "export {}\n")
  const now = Date.now()
  await utimes(path, new Date(now), new Date(now - MINUTE_MS))
  expect(makeBuildStamp([path], now)).toEqual({ [path]: expect.stringMatching(/^10 \d+/) })
  expect(makeBuildStamp([path], now - 2 * MINUTE_MS)).toEqual({ [path]: "changed meanwhile" })
})

test("a file with a future time does not count as changed", async () => {
  await using folder = await makeTempFolder("built")
  const path = join(folder.path, "source.ts")
  await writeFile(path, "export {}\n")
  const now = Date.now()
  await utimes(path, new Date(now), new Date(now + MINUTE_MS))
  expect(makeBuildStamp([path], now)).toEqual({ [path]: expect.stringMatching(/^10 \d+/) })
})

test("a missing file equals no file", () => {
  expect(makeBuildStamp(["not/there.ts"], Date.now())).toEqual({ "not/there.ts": "" })
})

test("`npm start` runs the build with the same arguments as tests, otherwise the source", async () => {
  await using folder = await makeTempFolder("built")
  expect(makeStartScriptArguments(folder.path)).toEqual(["scripts/start/main.ts"])
  const project = await realpath(folder.path)
  const built = join(project, "node_modules/.cache/lathe", project)
  await mkdir(built, { recursive: true })
  await writeFile(join(built, "start.js"), "")
  const [flag, path] = makeStartScriptArguments(folder.path)
  expect(path).toBe(join(built, "start.js"))
  const [variable] = Object.entries(START_SCRIPT_ENVIRONMENT)
  const run = await readFile(join(import.meta.dirname, "../../../scripts/run"), "utf8")
  expect(run).toContain(`${variable?.join("=")} exec node_modules/.bin/node ${flag} "$built"`)
})
