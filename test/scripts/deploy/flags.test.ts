import { expect, test } from "vitest"
import { parseDeployFlags } from "../../../scripts/deploy/flags.ts"

test("flags are parsed", () => {
  expect(parseDeployFlags([])).toEqual({
    wantsHelp: false,
    isRehearsal: false,
    rotatesOperatorToken: false,
    check: "after",
    origin: null,
  })
  expect(parseDeployFlags(["--dry-run"])).toMatchObject({ isRehearsal: true })
  expect(parseDeployFlags(["--rotate-operator-token"])).toMatchObject({
    rotatesOperatorToken: true,
  })
  expect(parseDeployFlags(["--no-check"])).toMatchObject({ check: "none" })
  expect(parseDeployFlags(["--check"])).toMatchObject({ check: "alone", origin: null })
  const origin = "https://media.example.com"
  expect(parseDeployFlags(["--check", "--origin", `${origin}/v1`])).toMatchObject({ origin })
  expect(parseDeployFlags(["--help"])).toMatchObject({ wantsHelp: true })
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
  expect(() => parseDeployFlags(line.split(" "))).toThrow(sentence)
  expect(() => parseDeployFlags(line.split(" "))).toThrow("Usage: npm run deploy")
})
