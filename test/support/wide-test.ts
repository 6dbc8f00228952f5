import { test } from "vitest"
import { WIDE } from "./wide.ts"

/** Declares a test that only the suite of its subject runs; other runs do not count it as skipped. */
export function wideTest(name: string, run: () => Promise<void>): void {
  const declare = process.env[WIDE] === "true" ? test : () => null
  declare(name, run)
}
