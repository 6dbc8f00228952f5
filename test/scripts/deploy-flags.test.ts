import { expect, test } from "vitest"
import { parseFlags } from "../../scripts/deploy/flags.ts"

test("flags are understood", () => {
  expect(parseFlags([])).toEqual({
    wantsHelp: false,
    isRehearsal: false,
    rotatesOperatorToken: false,
  })
  expect(parseFlags(["--dry-run"])).toMatchObject({ isRehearsal: true })
  expect(parseFlags(["--rotate-operator-token"])).toMatchObject({ rotatesOperatorToken: true })
  expect(parseFlags(["--help"])).toMatchObject({ wantsHelp: true })
})

test.each([
  ["--force", "Unknown option '--force'"],
  ["now", "Unexpected argument 'now'"],
  ["--dry-run --rotate-operator-token", "--dry-run changes nothing"],
])("%s is refused with the usage", (line, sentence) => {
  expect(() => parseFlags(line.split(" "))).toThrow(sentence)
  expect(() => parseFlags(line.split(" "))).toThrow("Usage: npm run deploy")
})
