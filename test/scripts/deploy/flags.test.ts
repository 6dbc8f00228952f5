import { expect, test } from "vitest"
import { parseFlags } from "../../../scripts/deploy/flags.ts"

test("flags are understood", () => {
  expect(parseFlags([])).toEqual({
    wantsHelp: false,
    isRehearsal: false,
    rotatesOperatorToken: false,
    check: "after",
    origin: null,
  })
  expect(parseFlags(["--dry-run"])).toMatchObject({ isRehearsal: true })
  expect(parseFlags(["--rotate-operator-token"])).toMatchObject({ rotatesOperatorToken: true })
  expect(parseFlags(["--no-check"])).toMatchObject({ check: "none" })
  expect(parseFlags(["--check"])).toMatchObject({ check: "alone", origin: null })
  const origin = "https://media.example.com"
  expect(parseFlags(["--check", "--origin", `${origin}/v1`])).toMatchObject({ origin })
  expect(parseFlags(["--help"])).toMatchObject({ wantsHelp: true })
})

test.each([
  ["--force", "Unknown option '--force'"],
  ["now", "Unexpected argument 'now'"],
  ["--dry-run --rotate-operator-token", "--dry-run changes nothing"],
  ["--check --no-check", "--check deploys nothing"],
  ["--check --dry-run", "--check deploys nothing"],
  ["--origin https://media.example.com", "--origin says what --check is to check"],
  ["--check --origin media.example.com", '--origin is "media.example.com": expected an address'],
])("%s is refused with the usage", (line, sentence) => {
  expect(() => parseFlags(line.split(" "))).toThrow(sentence)
  expect(() => parseFlags(line.split(" "))).toThrow("Usage: npm run deploy")
})
