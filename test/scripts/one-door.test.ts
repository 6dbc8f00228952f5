import { globSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"

/** What says where an object is made. */
const DOORS = ["src/placement.ts", "src/runner/client.ts"]

test("objects are named by one door, which says where they are made", () => {
  const naming = globSync("src/**/*.{ts,tsx}").filter((path) => {
    return /\.(?:getByName|idFromName)\(/.test(readFileSync(path, "utf8"))
  })
  expect(naming.toSorted()).toEqual(DOORS)
})
