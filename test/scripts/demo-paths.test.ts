import { readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { copyDemoResult } from "../../scripts/demo/paths.ts"
import { makeTempFolder } from "../../scripts/cli/temp-folder.ts"

test("a result replaces a link, and the target of the link stays", async () => {
  await using parent = await makeTempFolder("demo-paths")
  const [folder, outside] = [join(parent.path, "folder"), join(parent.path, "outside")]
  const fetched = join(parent.path, "result.mp4")
  await mkdir(folder)
  writeFileSync(outside, "kept")
  writeFileSync(fetched, "result")
  symlinkSync(outside, join(folder, "result.mp4"))
  const paths = { source: join(folder, "clip.mp4"), shownSource: "clip.mp4", folder }
  for (const text of ["result", "newer result"]) {
    writeFileSync(fetched, text)
    expect(readFileSync(copyDemoResult(fetched, paths), "utf8")).toBe(text)
  }
  expect(readFileSync(outside, "utf8")).toBe("kept")
  expect(readdirSync(folder)).toEqual(["result.mp4"])
})
