import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join, dirname } from "node:path"
import { expect, test } from "vitest"
import { logPatch } from "../../scripts/build/log-patch.ts"
import { patchText } from "../../scripts/build/miniflare-patch.ts"
import { r2Patch } from "../../scripts/build/r2-patch.ts"

const workers = join(dirname(createRequire(import.meta.url).resolve("miniflare")), "workers")

function readPinned(path: string): string {
  return readFileSync(join(workers, path), "utf8")
}

test("the pinned Miniflare's R2 worker is the one that the patch knows", () => {
  const patched = patchText(r2Patch, readPinned("r2/bucket.worker.js"))
  expect(patched).not.toContain("value.pipeThrough(digesting)")
  expect(patched).toContain("new Uint8Array(262144)")
})

test("the pinned Miniflare's simulators are those that the patch of their log knows", () => {
  const patched = patchText(logPatch, readPinned("shared/index.worker.js"))
  expect(patched).toMatch(/async logWithLevel\(level, message\) \{\s+if \(level <= LogLevel.WARN\)/)
})

test("another text is refused", () => {
  const other = readPinned("r2/bucket.worker.js").replace("value.pipeThrough(digesting)", "value")
  expect(() => patchText(r2Patch, other)).toThrow(
    "the R2 worker of this Miniflare is not the one that its patch in scripts/build knows",
  )
})
