import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { lockStateDir } from "../../../scripts/start/lock.ts"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lathe-lock-"))
})
afterEach(() => rmSync(folder, { recursive: true }))

test("a state folder has one owner at a time", () => {
  const lock = lockStateDir(folder)
  expect(() => lockStateDir(folder)).toThrow(`Process ${process.pid} already uses ${folder}`)
  lock.release()
  lockStateDir(folder).release()
})

test("the lock of a dead process is taken over", () => {
  writeFileSync(join(folder, "lock"), JSON.stringify({ pid: 2 ** 22 + 1, born: "1" }))
  lockStateDir(folder)
  expect(readFileSync(join(folder, "lock"), "utf8")).toContain(`"pid":${process.pid}`)
})

test("a half-written lock is taken over", () => {
  writeFileSync(join(folder, "lock"), "{")
  expect(() => lockStateDir(folder).release()).not.toThrow()
})

test.runIf(process.platform === "linux")(
  "a lock whose process id another process has now is taken over",
  () => {
    writeFileSync(join(folder, "lock"), JSON.stringify({ pid: process.ppid, born: "1" }))
    expect(() => lockStateDir(folder).release()).not.toThrow()
  },
)
