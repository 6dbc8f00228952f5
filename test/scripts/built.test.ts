import { utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { lookAtAll } from "../../scripts/local/built.ts"
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
