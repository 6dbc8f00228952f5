import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join, dirname } from "node:path"
import { expect, test } from "vitest"
import { entryPatch } from "../../scripts/local/entry-patch.ts"
import { patchText } from "../../scripts/local/miniflare-patch.ts"
import { r2Patch } from "../../scripts/local/r2-patch.ts"

const workers = join(dirname(createRequire(import.meta.url).resolve("miniflare")), "workers")

function readPinned(path: string): string {
  return readFileSync(join(workers, path), "utf8")
}

test("the pinned Miniflare's R2 worker is the one that the patch knows", () => {
  const patched = patchText(r2Patch, readPinned("r2/bucket.worker.js"))
  expect(patched).not.toContain("value.pipeThrough(digesting)")
  expect(patched).toContain("new Uint8Array(262144)")
})

test("the pinned Miniflare's entry worker is the one that the patch knows", () => {
  const patched = patchText(entryPatch, readPinned("core/entry.worker.js"))
  expect(patched).toMatch(/async fetch\(request, env, ctx\) \{\s+if \(!isOwnCall\(request, env\)\)/)
})

test("another text is refused", () => {
  const other = readPinned("r2/bucket.worker.js").replace("value.pipeThrough(digesting)", "value")
  expect(() => patchText(r2Patch, other)).toThrow(
    "the R2 worker of this Miniflare is not the one that its patch in scripts/local knows",
  )
})
