import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { loadOrCreateSecrets, readStoredSecrets } from "../../../scripts/cli/secrets.ts"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lathe-secrets-"))
})
afterEach(() => rmSync(folder, { recursive: true }))

test("secrets are generated once, long enough, and readable by the owner only", () => {
  expect(readStoredSecrets(folder)).toBeNull()
  const made = loadOrCreateSecrets(folder, {})
  expect(made.LATHE_SECRET).not.toBe(made.OPERATOR_TOKEN)
  expect(made.LATHE_SECRET.length).toBeGreaterThanOrEqual(32)
  expect(made.OPERATOR_TOKEN.length).toBeGreaterThanOrEqual(32)
  expect(loadOrCreateSecrets(folder, {})).toEqual(made)
  expect(readStoredSecrets(folder)).toEqual(made)
  expect(statSync(join(folder, "secrets.json")).mode & 0o777).toBe(0o600)
})

test("the environment's secret comes before the stored one and is not stored", () => {
  const { OPERATOR_TOKEN } = loadOrCreateSecrets(folder, { OPERATOR_TOKEN: "from the environment" })
  expect(OPERATOR_TOKEN).toBe("from the environment")
  expect(readStoredSecrets(folder)?.OPERATOR_TOKEN).not.toBe("from the environment")
})
