import { mkdtempSync, rmSync, utimesSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import {
  findOperatorToken,
  listRecordedDeployments,
  readDeploymentRecord,
  writeDeploymentRecord,
} from "../../../scripts/cli/deployment-record.ts"

const ORIGIN = "https://lathe.acme.workers.dev"

let stateDir: string
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "lathe-tokens-"))
})
afterEach(() => rmSync(stateDir, { recursive: true }))

test("the record is empty before a deployment", () => {
  expect(readDeploymentRecord({ stateDir, accountId: "one", name: "lathe" })).toEqual({})
  expect(listRecordedDeployments({ stateDir, accountId: "one" })).toEqual([])
  expect(findOperatorToken(stateDir, ORIGIN)).toBeNull()
})

test("a token is returned for its own origin only", () => {
  const id = { stateDir, accountId: "one", name: "lathe" }
  writeDeploymentRecord(id, { origin: ORIGIN, operatorToken: "first" })
  expect(readDeploymentRecord(id)).toEqual({ origin: ORIGIN, operatorToken: "first" })
  expect(listRecordedDeployments(id)).toEqual(["lathe"])
  expect(findOperatorToken(stateDir, ORIGIN)).toBe("first")
  expect(findOperatorToken(stateDir, "https://lathe.acme.workers.dev.evil.example")).toBeNull()
})

test("a token that no Worker has yet is not returned", () => {
  const id = { stateDir, accountId: "one", name: "lathe" }
  writeDeploymentRecord(id, { origin: ORIGIN, nextOperatorToken: "next" })
  expect(findOperatorToken(stateDir, ORIGIN)).toBeNull()
})

test("the account deployed last provides the token of an origin that two accounts served", () => {
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
