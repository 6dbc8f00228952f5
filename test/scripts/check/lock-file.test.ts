import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { findLockProblems } from "../../../scripts/check/lock-file.ts"

const manifest = { dependencies: { one: "1.0.0" }, devDependencies: { two: "2.0.0" } }

function lockOf(packages: Record<string, object> = {}) {
  return {
    packages: {
      "": manifest,
      "node_modules/one": { version: "1.0.0", integrity: "sha512-a" },
      "node_modules/two": { version: "2.0.0", integrity: "sha512-b" },
      "node_modules/two/node_modules/three": { version: "3.0.0", integrity: "sha512-c" },
      "node_modules/two/node_modules/four": { version: "4.0.0", inBundle: true },
      ...packages,
    },
  }
}

it("finds nothing wrong with this repository's lock file", () => {
  const [manifest, lock] = ["package.json", "package-lock.json"].map((path): unknown =>
    JSON.parse(readFileSync(path, "utf8")),
  )
  expect(findLockProblems(manifest, lock)).toEqual([])
})

it("finds nothing wrong with a lock that has what package.json has", () => {
  expect(findLockProblems(manifest, lockOf())).toEqual([])
})

it("names a dependency that was added, moved or removed", () => {
  const added = { ...manifest, dependencies: { one: "1.0.0", five: "5.0.0" } }
  expect(findLockProblems(added, lockOf())).toEqual([
    "five is 5.0.0 in package.json and missing in the lock.",
  ])
  const moved = { ...manifest, devDependencies: { two: "2.0.1" } }
  expect(findLockProblems(moved, lockOf())).toEqual([
    "two is 2.0.1 in package.json and 2.0.0 in the lock.",
  ])
  expect(findLockProblems({ dependencies: { one: "1.0.0" } }, lockOf())).toEqual([
    "two is in the lock and not in package.json.",
  ])
})

it("names a package without a hash, and one with a registry", () => {
  const lock = lockOf({
    "node_modules/two": { version: "2.0.0" },
    "node_modules/one": { version: "1.0.0", integrity: "sha512-a", resolved: "https://a.example/" },
  })
  expect(findLockProblems(manifest, lock)).toEqual([
    "node_modules/one names a registry in the lock.",
    "node_modules/two has no integrity hash in the lock.",
  ])
})
