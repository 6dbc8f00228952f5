import { test } from "vitest"
import { WIDE_TESTS_VARIABLE } from "./wide.ts"

/**
 * Declares a test that runs only in the test suite of its subject. Other runs do not report the
 * test as skipped.
 */
export function wideTest(name: string, run: () => Promise<void>): void {
  const declare = process.env[WIDE_TESTS_VARIABLE] === "true" ? test : () => null
  declare(name, run)
}
