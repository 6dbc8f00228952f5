import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { backUpStateFolder } from "../../scripts/backup/back-up.ts"
import { CliError } from "../../scripts/cli/cli-error.ts"
import { makeStateFolder } from "../../scripts/cli/state-folder.ts"

const OTHER_UID = 23_456
const isRoot = process.getuid?.() === 0
const MARK = "lathe-backup.json"
const DATABASES = ["v3/d1/object/rows.sqlite", "v3/r2/object/objects.sqlite"]
const DELETED = "a-secret-that-was-deleted ".repeat(200)

let parent = ""
let state = ""
let target = ""
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "lathe-backup-"))
  state = makeStateFolder(join(parent, "state"))
  target = join(parent, "copy")
  for (const path of DATABASES) makeDatabase(join(state, path))
  put(join(state, "secrets.json"), "secrets")
})
afterEach(() => rmSync(parent, { recursive: true }))

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, text, { mode: 0o600 })
}

/** A database with a row, and with the bytes of one that was deleted. */
function makeDatabase(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const database = new DatabaseSync(path)
  database.exec("PRAGMA journal_mode = wal; CREATE TABLE notes (text)")
  const insert = database.prepare("INSERT INTO notes VALUES (?)")
  for (const text of [DELETED, "kept"]) insert.run(text)
  database.exec("DELETE FROM notes WHERE text <> 'kept'")
  database.close()
  chmodSync(path, 0o600)
}

function notesIn(path: string): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database
      .prepare("SELECT text FROM notes")
      .all()
      .map(({ text }) => text)
  } finally {
    database.close()
  }
}

/** The sentence with which a backup is refused. */
async function refusalOf(folder = target): Promise<string> {
  try {
    await backUpStateFolder(state, folder)
  } catch (error) {
    if (error instanceof CliError) return error.message
    throw error
  }
  return "none"
}

describe("a backup", () => {
  test.each(DATABASES)("contains no bytes of rows deleted from %s", async (path) => {
    expect(readFileSync(join(state, path)).includes(DELETED.slice(0, 1000))).toBe(true)
    await backUpStateFolder(state, target)
    expect(readFileSync(join(target, path)).includes(DELETED.slice(0, 100))).toBe(false)
    expect(notesIn(join(target, path))).toEqual(["kept"])
  })

  test("replaces the remains of a killed backup", async () => {
    await backUpStateFolder(state, target)
    for (const path of [...DATABASES, "secrets.json", MARK]) {
      put(join(target, `${path}.new`), "left")
    }
    writeFileSync(join(state, "secrets.json"), "other secrets")
    await backUpStateFolder(state, target)
    expect(readFileSync(join(target, "secrets.json"), "utf8")).toBe("other secrets")
    expect(readdirSync(target).toSorted()).toEqual([MARK, "secrets.json", "v3"])
    expect(notesIn(join(target, DATABASES[0] ?? ""))).toEqual(["kept"])
  })
})

describe("the folder of a backup", () => {
  test("is created, without the folders above it", async () => {
    expect(await refusalOf(join(parent, "no", "such", "copy"))).toBe(
      `The folder ${join(parent, "no", "such")} above ${join(parent, "no", "such", "copy")} does not exist: mount or create ${join(parent, "no", "such")} first, or back up to another folder.`,
    )
    expect(existsSync(join(parent, "no"))).toBe(false)
    expect(await refusalOf(join(state, "secrets.json", "copy"))).toContain("is no folder")
    await backUpStateFolder(state, target)
    expect(statSync(target).mode & 0o777).toBe(0o700)
  })

  test("is refused inside the state folder, by any path", async () => {
    symlinkSync(state, join(parent, "link"))
    expect(await refusalOf(join(parent, "link", "copy"))).toContain("name another folder")
    expect(existsSync(join(state, "copy"))).toBe(false)
  })

  test("is refused below a folder that all users may change", async () => {
    mkdirSync(join(parent, "open"))
    chmodSync(join(parent, "open"), 0o777)
    const below = join(parent, "open", "copy")
    expect(await refusalOf(below)).toMatch(/may be changed by every user, .*: back up to a folder/)
    expect(existsSync(below)).toBe(false)
    chmodSync(join(parent, "open"), 0o1777)
    await backUpStateFolder(state, below)
  })

  test("is closed to other users, with all files of an earlier backup", async () => {
    await backUpStateFolder(state, target)
    const paths = ["", MARK, "secrets.json", "v3", ...DATABASES]
    for (const path of paths) chmodSync(join(target, path), 0o777)
    await backUpStateFolder(state, target)
    for (const path of ["", "v3"]) expect(statSync(join(target, path)).mode & 0o777).toBe(0o700)
    expect(statSync(join(target, "secrets.json")).mode & 0o077).toBe(0)
  })

  test("keeps its mode if it contains other files or users share it", async () => {
    mkdirSync(target)
    put(join(target, "letter.txt"), "dear reader")
    chmodSync(target, 0o755)
    expect(await refusalOf()).toContain("contains other files than a backup")
    expect(statSync(target).mode & 0o7777).toBe(0o755)
    put(join(target, MARK), "{}")
    chmodSync(target, 0o1777)
    expect(await refusalOf()).toContain("is a folder that all users share")
    expect(statSync(target).mode & 0o7777).toBe(0o1777)
  })

  test.for(["", MARK, "secrets.json", "secrets.json.new", "v3", "v3/d1/object/rows.sqlite.new"])(
    "is refused where %j is a link, through which nothing is written",
    async (name) => {
      const outside = join(parent, "outside")
      const isFolder = name === "" || name === "v3"
      put(isFolder ? join(outside, "kept") : outside, "kept")
      chmodSync(outside, 0o755)
      const link = join(target, name)
      if (name !== "") put(join(target, MARK), "{}")
      rmSync(link, { force: true, recursive: true })
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(outside, link)
      expect(await refusalOf()).toContain(`${link} is a symbolic link`)
      const content = isFolder ? readdirSync(outside) : [readFileSync(outside, "utf8")]
      expect(content).toEqual(["kept"])
      expect(statSync(outside).mode & 0o777).toBe(0o755)
    },
  )

  test.each(["secrets.json.new", `${MARK}.new`, MARK, "v3/d1/object/rows.sqlite.new"])(
    "may have another name of a file at %j, whose bytes stay",
    async (name) => {
      const outside = join(parent, "outside")
      put(outside, "kept")
      put(join(target, MARK), "{}")
      rmSync(join(target, name), { force: true })
      mkdirSync(dirname(join(target, name)), { recursive: true })
      linkSync(outside, join(target, name))
      await backUpStateFolder(state, target)
      expect(readFileSync(outside, "utf8")).toBe("kept")
    },
  )
})

describe.runIf(isRoot)("another user", () => {
  test.for(["", MARK, "secrets.json", "v3", "v3/d1"])(
    "is refused if another user owns %j of it",
    async (name) => {
      await backUpStateFolder(state, target)
      rmSync(join(target, DATABASES[0] ?? ""))
      chownSync(join(target, name), OTHER_UID, OTHER_UID)
      chmodSync(target, 0o777)
      expect(await refusalOf()).toMatch(
        new RegExp(`belongs to user ${OTHER_UID}.*or back up to a folder of your own`),
      )
      expect(existsSync(join(target, DATABASES[0] ?? ""))).toBe(false)
    },
  )

  test("cannot receive a backup in an empty folder of that user", async () => {
    mkdirSync(target)
    chownSync(target, OTHER_UID, OTHER_UID)
    expect(await refusalOf()).toContain(`${target} belongs to user ${OTHER_UID}`)
    expect(readdirSync(target)).toEqual([])
  })

  test("cannot make a backup read a foreign state folder or follow a link", async () => {
    chownSync(state, OTHER_UID, OTHER_UID)
    expect(await refusalOf()).toContain(`${state} belongs to user ${OTHER_UID}`)
    chownSync(state, 0, 0)
    symlinkSync("/etc/hostname", join(state, "v3/d1/object/other.sqlite"))
    expect(await refusalOf()).toContain("other.sqlite is a symbolic link")
    expect(existsSync(target)).toBe(false)
  })
})
