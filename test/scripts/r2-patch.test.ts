import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join, dirname } from "node:path"
import { expect, test } from "vitest"
import { patchR2Text } from "../../scripts/local/r2-patch.ts"

const miniflare = createRequire(import.meta.url).resolve("miniflare")
const pinned = readFileSync(join(dirname(miniflare), "workers/r2/bucket.worker.js"), "utf8")

test("the pinned Miniflare's R2 worker is the one that the patch knows", () => {
  const patched = patchR2Text(pinned)
  expect(patched).not.toContain("value.pipeThrough(digesting)")
  expect(patched).toContain("new Uint8Array(262144)")
})

test("another text is refused", () => {
  expect(() => patchR2Text(pinned.replace("value.pipeThrough(digesting)", "value"))).toThrow(
    "is not the one that scripts/local/r2-patch.ts knows",
  )
})
