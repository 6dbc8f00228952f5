import { mkdtempSync, rmSync, utimesSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import {
  findOperatorToken,
  recordedNames,
  readDeploymentRecord,
  writeDeploymentRecord,
} from "../../../scripts/local/deployment-record.ts"

const ORIGIN = "https://lathe.acme.workers.dev"

let stateDir: string
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "lathe-tokens-"))
})
afterEach(() => rmSync(stateDir, { recursive: true }))

test("nothing is kept where nothing was deployed", () => {
  expect(readDeploymentRecord({ stateDir, accountId: "one", name: "lathe" })).toEqual({})
  expect(recordedNames({ stateDir, accountId: "one" })).toEqual([])
  expect(findOperatorToken(stateDir, ORIGIN)).toBeNull()
})

test("a token is given for its own origin only", () => {
  const id = { stateDir, accountId: "one", name: "lathe" }
  writeDeploymentRecord(id, { origin: ORIGIN, operatorToken: "first" })
  expect(readDeploymentRecord(id)).toEqual({ origin: ORIGIN, operatorToken: "first" })
  expect(recordedNames(id)).toEqual(["lathe"])
  expect(findOperatorToken(stateDir, ORIGIN)).toBe("first")
  expect(findOperatorToken(stateDir, "https://lathe.acme.workers.dev.evil.example")).toBeNull()
})

test("a token that no Worker has yet is not given", () => {
  const id = { stateDir, accountId: "one", name: "lathe" }
  writeDeploymentRecord(id, { origin: ORIGIN, nextOperatorToken: "next" })
  expect(findOperatorToken(stateDir, ORIGIN)).toBeNull()
})

test("of two accounts that served an origin, the one deployed last has its token", () => {
  writeDeploymentRecord(
    { stateDir, accountId: "b", name: "lathe" },
    { origin: ORIGIN, operatorToken: "new" },
  )
  writeDeploymentRecord(
    { stateDir, accountId: "a", name: "lathe" },
    { origin: ORIGIN, operatorToken: "old" },
  )
  utimesSync(join(stateDir, "remote", "a", "lathe.json"), 1000, 1000)
  expect(findOperatorToken(stateDir, ORIGIN)).toBe("new")
})
