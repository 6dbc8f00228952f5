import { mkdir, readFile, realpath, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { lookAtAll, START_ENVIRONMENT, startWords } from "../../scripts/local/built.ts"
import { makeTempFolder } from "../../scripts/local/temp-folder.ts"

const MINUTE_MS = 60_000

test("a file that changes while all is built is not the one that was built of", async () => {
  await using folder = await makeTempFolder("built")
  const path = join(folder.path, "source.ts")
  await writeFile(path, "export {}\n")
  const now = Date.now()
  await utimes(path, new Date(now), new Date(now - MINUTE_MS))
  expect(lookAtAll([path], now)).toEqual({ [path]: expect.stringMatching(/^10 \d+/) })
  expect(lookAtAll([path], now - 2 * MINUTE_MS)).toEqual({ [path]: "changed meanwhile" })
})

test("a file of a time to come does not count as changed", async () => {
  await using folder = await makeTempFolder("built")
  const path = join(folder.path, "source.ts")
  await writeFile(path, "export {}\n")
  const now = Date.now()
  await utimes(path, new Date(now), new Date(now + MINUTE_MS))
  expect(lookAtAll([path], now)).toEqual({ [path]: expect.stringMatching(/^10 \d+/) })
})

test("a file that is not there is like nothing", () => {
  expect(lookAtAll(["not/there.ts"], Date.now())).toEqual({ "not/there.ts": "" })
})

test("`npm start` runs what is built by the same words as tests do, else the source", async () => {
  await using folder = await makeTempFolder("built")
  expect(startWords(folder.path)).toEqual(["scripts/start.ts"])
  const project = await realpath(folder.path)
  const built = join(project, "node_modules/.cache/lathe", project)
  await mkdir(built, { recursive: true })
  await writeFile(join(built, "start.js"), "")
  const [flag, path] = startWords(folder.path)
  expect(path).toBe(join(built, "start.js"))
  const [variable] = Object.entries(START_ENVIRONMENT)
  const run = await readFile(join(import.meta.dirname, "../../scripts/run"), "utf8")
  expect(run).toContain(`${variable?.join("=")} exec node_modules/.bin/node ${flag} "$built"`)
})
