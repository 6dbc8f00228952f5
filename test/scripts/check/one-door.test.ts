import { globSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"

/** Files that may name an object, with its location hint. */
const DOORS = ["src/bindings/durable-objects.ts", "src/runner/client.ts"]

test("Durable Objects are named in one module, which sets their location", () => {
  const naming = globSync("src/**/*.{ts,tsx}").filter((path) => {
    return /\.(?:getByName|idFromName)\(/.test(readFileSync(path, "utf8"))
  })
  expect(naming.toSorted()).toEqual(DOORS)
})
