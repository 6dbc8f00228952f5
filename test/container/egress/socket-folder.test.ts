import { existsSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "vitest"
import {
  makeSocketFolder,
  removeLeftSocketFolders,
} from "../../../container/egress/socket-folder.ts"

it("removes the folders of killed processes of the same work folder, and no others", async () => {
  await using left = await makeSocketFolder("/tmp/one/work")
  await using other = await makeSocketFolder("/tmp/two/work")
  await writeFile(join(left.path, "s"), "")
  await removeLeftSocketFolders("/tmp/one/work")
  expect([left, other].map(({ path }) => existsSync(path))).toEqual([false, true])
})
