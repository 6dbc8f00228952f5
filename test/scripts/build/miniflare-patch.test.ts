import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import { simulatorWarningsPatch } from "../../../scripts/build/runtime.ts"
import { applyMiniflarePatch } from "../../../scripts/build/miniflare-patch.ts"
import { miniflareR2Patch } from "../../../scripts/build/r2-patch.ts"

const workers = join(dirname(createRequire(import.meta.url).resolve("miniflare")), "workers")

function readPinned(path: string): string {
  return readFileSync(join(workers, path), "utf8")
}

test("the patch fits the R2 worker of the pinned Miniflare", () => {
  const patched = applyMiniflarePatch(miniflareR2Patch, readPinned("r2/bucket.worker.js"))
  expect(patched).not.toContain("value.pipeThrough(digesting)")
  expect(patched).toContain("new Uint8Array(262144)")
})

test("the patch of the log fits the simulators of the pinned Miniflare", () => {
  const patched = applyMiniflarePatch(simulatorWarningsPatch, readPinned("shared/index.worker.js"))
  expect(patched).toMatch(/async logWithLevel\(level, message\) \{\s+if \(level <= LogLevel.WARN\)/)
})

test("a changed worker is refused", () => {
  const other = readPinned("r2/bucket.worker.js").replace("value.pipeThrough(digesting)", "value")
  expect(() => applyMiniflarePatch(miniflareR2Patch, other)).toThrow(
    "the R2 worker of this Miniflare is not the one that its patch in scripts/build knows",
  )
})
