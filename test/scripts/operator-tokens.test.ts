import { mkdtempSync, rmSync, utimesSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import {
  findOperatorToken,
  keptNames,
  readKept,
  writeKept,
} from "../../scripts/local/operator-tokens.ts"

const ORIGIN = "https://lathe.acme.workers.dev"

let stateDir: string
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "lathe-tokens-"))
})
afterEach(() => rmSync(stateDir, { recursive: true }))

test("nothing is kept where nothing was deployed", () => {
  expect(readKept({ stateDir, accountId: "one", name: "lathe" })).toEqual({})
  expect(keptNames({ stateDir, accountId: "one" })).toEqual([])
  expect(findOperatorToken(stateDir, ORIGIN)).toBeNull()
})

test("a token is given for its own origin only", () => {
  const place = { stateDir, accountId: "one", name: "lathe" }
  writeKept(place, { origin: ORIGIN, operatorToken: "first" })
  expect(readKept(place)).toEqual({ origin: ORIGIN, operatorToken: "first" })
  expect(keptNames(place)).toEqual(["lathe"])
  expect(findOperatorToken(stateDir, ORIGIN)).toBe("first")
  expect(findOperatorToken(stateDir, "https://lathe.acme.workers.dev.evil.example")).toBeNull()
})

test("a token that no Worker has yet is not given", () => {
  const place = { stateDir, accountId: "one", name: "lathe" }
  writeKept(place, { origin: ORIGIN, nextOperatorToken: "next" })
  expect(findOperatorToken(stateDir, ORIGIN)).toBeNull()
})

test("of two accounts that served an origin, the one deployed last has its token", () => {
  writeKept({ stateDir, accountId: "b", name: "lathe" }, { origin: ORIGIN, operatorToken: "new" })
  writeKept({ stateDir, accountId: "a", name: "lathe" }, { origin: ORIGIN, operatorToken: "old" })
  utimesSync(join(stateDir, "remote", "a", "lathe.json"), 1000, 1000)
  expect(findOperatorToken(stateDir, ORIGIN)).toBe("new")
})
