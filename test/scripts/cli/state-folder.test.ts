import { execFileSync, spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { CliError } from "../../../scripts/cli/cli-error.ts"
import {
  listStateFolder,
  makeStateFolder,
  readStateFile,
  writeStateFile,
} from "../../../scripts/cli/state-folder.ts"

const OTHER_UID = 23_456
const isRoot = process.getuid?.() === 0
/** Ends without a chance to remove the socket that it made. */
const LEAVES_SOCKET =
  'require("node:net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))'
/** Mode of folders that the users of tools traverse; these users exist only as root. */
const TOP = isRoot ? 0o711 : 0o700

let parent = ""
let state = ""
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "lathe-state-"))
  state = join(parent, "state")
})
afterEach(() => rmSync(parent, { recursive: true }))

function modeOf(...names: string[]): number {
  return statSync(join(state, ...names)).mode & 0o7777
}

/** Puts a file with this mode into the state folder, below folders that everybody may enter. */
function put(path: string, mode = 0o644): string {
  const whole = join(state, path)
  mkdirSync(join(whole, ".."), { recursive: true, mode: 0o755 })
  writeFileSync(whole, "{}")
  chmodSync(whole, mode)
  return whole
}

function refusalOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof CliError) return error.message
    throw error
  }
  return "none"
}

describe("a state folder", () => {
  test("is created for its user alone, with the work folder", () => {
    expect(makeStateFolder(join(state, "deep"))).toBe(join(state, "deep"))
    expect(modeOf()).toBe(0o700)
    expect([modeOf("deep"), modeOf("deep", "work")]).toEqual([TOP, TOP])
  })

  test("is closed to other users, with its content, if its mode is too open", () => {
    put("secrets.json")
    put("lock", 0o666)
    put("v3/d1/one.sqlite", 0o660)
    put("v3/r2/blobs/two", 0o604)
    put("remote/account/lathe.json")
    put("work/left", 0o600)
    for (const path of ["", "v3", "work"]) chmodSync(join(state, path), 0o777)
    makeStateFolder(state)
    expect([modeOf(), modeOf("work")]).toEqual([TOP, TOP])
    const folders = ["v3", "v3/d1", "v3/r2", "v3/r2/blobs", "remote", "remote/account"]
    for (const path of folders) expect([path, modeOf(path)]).toEqual([path, 0o700])
    const files = ["secrets.json", "lock", "v3/d1/one.sqlite", "v3/r2/blobs/two"]
    for (const path of [...files, "remote/account/lathe.json"]) {
      expect([path, modeOf(path)]).toEqual([path, 0o600])
    }
  })

  test("resolves to its real path below links of its user", () => {
    mkdirSync(join(parent, "real"))
    symlinkSync(join(parent, "real"), join(parent, "link"))
    expect(makeStateFolder(join(parent, "link", "state"))).toBe(join(parent, "real", "state"))
  })

  test.for(["", "secrets.json", "v3", "v3/d1", "work", "remote/account/lathe.json"])(
    "is refused if %j is a symbolic link, which stays unchanged",
    (path) => {
      const link = join(state, path)
      const target = join(parent, "target")
      if (path === "") mkdirSync(target)
      else writeFileSync(target, "kept")
      chmodSync(target, 0o755)
      mkdirSync(join(link, ".."), { recursive: true })
      symlinkSync(target, link)
      expect(refusalOf(() => makeStateFolder(state))).toContain(`${link} is a symbolic link`)
      expect(statSync(target).mode & 0o777).toBe(0o755)
    },
  )

  test("is refused if it is a file", () => {
    writeFileSync(state, "kept")
    chmodSync(state, 0o644)
    expect(refusalOf(() => makeStateFolder(state))).toBe(`STATE_DIR is no folder: ${state}.`)
    expect(modeOf()).toBe(0o644)
  })

  test("is refused if it contains anything but files and folders", () => {
    put("secrets.json")
    execFileSync("mkfifo", [join(state, "pipe")])
    expect(refusalOf(() => makeStateFolder(state))).toContain("neither a file nor a folder")
  })

  test("may contain sockets of a killed service", () => {
    const folder = join(state, "sockets-left")
    mkdirSync(folder, { recursive: true })
    spawnSync(process.execPath, ["-e", LEAVES_SOCKET, join(folder, "worker")])
    expect(lstatSync(join(folder, "worker")).isSocket()).toBe(true)
    expect(makeStateFolder(state)).toBe(state)
  })

  test("is refused if all users share it, and keeps its mode", () => {
    mkdirSync(state)
    chmodSync(state, 0o1777)
    expect(refusalOf(() => makeStateFolder(state))).toContain("is a folder that all users share")
    expect(modeOf()).toBe(0o1777)
  })

  test("is refused below a folder that all users may change", () => {
    chmodSync(parent, 0o777)
    expect(refusalOf(() => makeStateFolder(state))).toContain(
      `${parent} may be changed by every user`,
    )
    expect(existsSync(state)).toBe(false)
    chmodSync(parent, 0o1777)
    expect(makeStateFolder(state)).toBe(state)
  })
})

describe.runIf(isRoot)("a state folder beside other users", () => {
  test.for([
    "",
    "secrets.json",
    "lock",
    "v3",
    "v3/d1/one.sqlite",
    "v3/r2/blobs/two",
    "remote/account/lathe.json",
    "work",
  ])("is refused if another user owns its part %j, which stays unchanged", (path) => {
    put("v3/d1/one.sqlite")
    put("v3/r2/blobs/two")
    put("remote/account/lathe.json")
    put("secrets.json")
    put("lock")
    mkdirSync(join(state, "work"))
    const theirs = join(state, path)
    chownSync(theirs, OTHER_UID, OTHER_UID)
    const refusal = refusalOf(() => makeStateFolder(state))
    expect(refusal).toContain(`${theirs.replace(/\/$/, "")} belongs to user ${OTHER_UID}`)
    expect(refusal).toContain("this runs as user 0")
    expect(refusal).toMatch(/run this as user 23456, remove it, or set STATE_DIR to/)
    expect(statSync(theirs).uid).toBe(OTHER_UID)
  })

  test("may contain leftover workspaces of tools", () => {
    mkdirSync(join(state, "work", "left"), { recursive: true })
    chownSync(join(state, "work", "left"), OTHER_UID, OTHER_UID)
    expect(makeStateFolder(state)).toBe(state)
  })

  test("is refused if another user owns a folder or a link above, and could replace it", () => {
    mkdirSync(join(parent, "theirs"))
    chownSync(join(parent, "theirs"), OTHER_UID, OTHER_UID)
    const below = join(parent, "theirs", "mine", "state")
    mkdirSync(below, { recursive: true })
    const refusal = `${join(parent, "theirs")} may be changed by user ${OTHER_UID}`
    expect(refusalOf(() => makeStateFolder(below))).toContain(refusal)
    mkdirSync(join(parent, "real"))
    symlinkSync(join(parent, "real"), join(parent, "link"))
    lchownSync(join(parent, "link"), OTHER_UID, OTHER_UID)
    expect(refusalOf(() => makeStateFolder(join(parent, "link", "state")))).toContain(
      `${join(parent, "link")} may be changed by user`,
    )
  })

  test("is refused if a group may write to a folder above", () => {
    chownSync(parent, 0, OTHER_UID)
    chmodSync(parent, 0o775)
    expect(refusalOf(() => makeStateFolder(state))).toContain(`group ${OTHER_UID}`)
    chownSync(parent, 0, 0)
    expect(makeStateFolder(state)).toBe(state)
  })

  test.for(["", "secrets.json"])("who has %j is not believed when it is read", (path) => {
    put("secrets.json")
    chownSync(join(state, path), OTHER_UID, OTHER_UID)
    const refusal = refusalOf(() => readStateFile(state, "secrets.json"))
    expect(refusal).toContain(`belongs to user ${OTHER_UID}`)
  })

  test("receives no data through a file that another user planted", () => {
    mkdirSync(state)
    const planted = join(parent, "planted")
    writeFileSync(planted, "")
    symlinkSync(planted, join(state, "secrets.json.new"))
    writeStateFile(state, ["secrets.json"], "secret")
    expect(readFileSync(planted, "utf8")).toBe("")
    mkdirSync(join(state, "remote"))
    chownSync(join(state, "remote"), OTHER_UID, OTHER_UID)
    const names = ["remote", "one", "a.json"]
    expect(refusalOf(() => writeStateFile(state, names, "secret"))).toContain("belongs to user")
    expect(existsSync(join(state, ...names))).toBe(false)
  })
})

describe("a file of the state folder", () => {
  test("is closed to other users when it is read", () => {
    put("remote/account/lathe.json", 0o644)
    chmodSync(state, 0o777)
    expect(readStateFile(state, "remote", "account", "lathe.json")).toBe("{}")
    expect(listStateFolder(state, "remote")).toEqual(["account"])
    expect([modeOf() & 0o022, modeOf("remote"), modeOf("remote/account")]).toEqual([
      0, 0o700, 0o700,
    ])
    expect(modeOf("remote/account/lathe.json")).toBe(0o600)
  })

  test("may not be a symbolic link", () => {
    mkdirSync(state)
    symlinkSync(put("other.json"), join(state, "secrets.json"))
    expect(refusalOf(() => readStateFile(state, "secrets.json"))).toContain("symbolic link")
  })

  test("is written completely, and is readable by its owner only", () => {
    expect(readStateFile(state, "remote", "b.json")).toBeNull()
    expect(listStateFolder(state, "remote")).toEqual([])
    expect(writeStateFile(state, ["remote", "b.json"], "one")).toBe(join(state, "remote", "b.json"))
    writeStateFile(state, ["remote", "b.json"], "two")
    expect(readStateFile(state, "remote", "b.json")).toBe("two")
    expect(listStateFolder(state, "remote")).toEqual(["b.json"])
    expect([modeOf("remote"), modeOf("remote", "b.json")]).toEqual([0o700, 0o600])
  })
})
