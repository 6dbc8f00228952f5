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
import { CliError } from "../../scripts/local/cli-error.ts"
import {
  listStateFolder,
  openStateFolder,
  readStateFile,
  writeStateFile,
} from "../../scripts/local/state-folder.ts"

const OTHER_UID = 23_456
const isRoot = process.getuid?.() === 0
/** Ends without a chance to remove the socket that it made. */
const LEAVES_SOCKET =
  'require("node:net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))'
/** What the users of tools pass on their way, who exist as root only. */
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
  test("is made for its user alone, with the work folder", () => {
    expect(openStateFolder(join(state, "deep"))).toBe(join(state, "deep"))
    expect(modeOf()).toBe(0o700)
    expect([modeOf("deep"), modeOf("deep", "work")]).toEqual([TOP, TOP])
  })

  test("that is too open is closed, with all that it holds", () => {
    put("secrets.json")
    put("lock", 0o666)
    put("v3/d1/one.sqlite", 0o660)
    put("v3/r2/blobs/two", 0o604)
    put("remote/account/lathe.json")
    put("work/left", 0o600)
    for (const path of ["", "v3", "work"]) chmodSync(join(state, path), 0o777)
    openStateFolder(state)
    expect([modeOf(), modeOf("work")]).toEqual([TOP, TOP])
    const folders = ["v3", "v3/d1", "v3/r2", "v3/r2/blobs", "remote", "remote/account"]
    for (const path of folders) expect([path, modeOf(path)]).toEqual([path, 0o700])
    const files = ["secrets.json", "lock", "v3/d1/one.sqlite", "v3/r2/blobs/two"]
    for (const path of [...files, "remote/account/lathe.json"]) {
      expect([path, modeOf(path)]).toEqual([path, 0o600])
    }
  })

  test("is known by its real path, below links of the user's own", () => {
    mkdirSync(join(parent, "real"))
    symlinkSync(join(parent, "real"), join(parent, "link"))
    expect(openStateFolder(join(parent, "link", "state"))).toBe(join(parent, "real", "state"))
  })

  test.for(["", "secrets.json", "v3", "v3/d1", "work", "remote/account/lathe.json"])(
    "is refused where %j is a symbolic link, which is left as it is",
    (path) => {
      const link = join(state, path)
      const target = join(parent, "target")
      if (path === "") mkdirSync(target)
      else writeFileSync(target, "kept")
      chmodSync(target, 0o755)
      mkdirSync(join(link, ".."), { recursive: true })
      symlinkSync(target, link)
      expect(refusalOf(() => openStateFolder(state))).toContain(`${link} is a symbolic link`)
      expect(statSync(target).mode & 0o777).toBe(0o755)
    },
  )

  test("is refused where it is a file", () => {
    writeFileSync(state, "kept")
    chmodSync(state, 0o644)
    expect(refusalOf(() => openStateFolder(state))).toBe(`STATE_DIR is no folder: ${state}.`)
    expect(modeOf()).toBe(0o644)
  })

  test("is refused where it holds anything but files and folders", () => {
    put("secrets.json")
    execFileSync("mkfifo", [join(state, "pipe")])
    expect(refusalOf(() => openStateFolder(state))).toContain("neither a file nor a folder")
  })

  test("may hold sockets that a service was killed beside", () => {
    const folder = join(state, "sockets-left")
    mkdirSync(folder, { recursive: true })
    spawnSync(process.execPath, ["-e", LEAVES_SOCKET, join(folder, "worker")])
    expect(lstatSync(join(folder, "worker")).isSocket()).toBe(true)
    expect(openStateFolder(state)).toBe(state)
  })

  test("is refused where all users share it, and keeps its mode", () => {
    mkdirSync(state)
    chmodSync(state, 0o1777)
    expect(refusalOf(() => openStateFolder(state))).toContain("is a folder that all users share")
    expect(modeOf()).toBe(0o1777)
  })

  test("is refused below a folder that every user may change", () => {
    chmodSync(parent, 0o777)
    expect(refusalOf(() => openStateFolder(state))).toContain(
      `${parent} may be changed by every user`,
    )
    expect(existsSync(state)).toBe(false)
    chmodSync(parent, 0o1777)
    expect(openStateFolder(state)).toBe(state)
  })
})

describe.runIf(isRoot)("somebody else", () => {
  test.for([
    "",
    "secrets.json",
    "lock",
    "v3",
    "v3/d1/one.sqlite",
    "v3/r2/blobs/two",
    "remote/account/lathe.json",
    "work",
  ])("who has %j keeps it, and the state folder is refused", (path) => {
    put("v3/d1/one.sqlite")
    put("v3/r2/blobs/two")
    put("remote/account/lathe.json")
    put("secrets.json")
    put("lock")
    mkdirSync(join(state, "work"))
    const theirs = join(state, path)
    chownSync(theirs, OTHER_UID, OTHER_UID)
    const refusal = refusalOf(() => openStateFolder(state))
    expect(refusal).toContain(`${theirs.replace(/\/$/, "")} belongs to user ${OTHER_UID}`)
    expect(refusal).toContain("this runs as user 0")
    expect(refusal).toMatch(/run this as user 23456, remove it, or set STATE_DIR to/)
    expect(statSync(theirs).uid).toBe(OTHER_UID)
  })

  test("has the workspaces that tools left, which are no reason to refuse", () => {
    mkdirSync(join(state, "work", "left"), { recursive: true })
    chownSync(join(state, "work", "left"), OTHER_UID, OTHER_UID)
    expect(openStateFolder(state)).toBe(state)
  })

  test("who has a folder or a link above could exchange the state folder, which is refused", () => {
    mkdirSync(join(parent, "theirs"))
    chownSync(join(parent, "theirs"), OTHER_UID, OTHER_UID)
    const below = join(parent, "theirs", "mine", "state")
    mkdirSync(below, { recursive: true })
    const refusal = `${join(parent, "theirs")} may be changed by user ${OTHER_UID}`
    expect(refusalOf(() => openStateFolder(below))).toContain(refusal)
    mkdirSync(join(parent, "real"))
    symlinkSync(join(parent, "real"), join(parent, "link"))
    lchownSync(join(parent, "link"), OTHER_UID, OTHER_UID)
    expect(refusalOf(() => openStateFolder(join(parent, "link", "state")))).toContain(
      `${join(parent, "link")} may be changed by user`,
    )
  })

  test("who may change a folder above as one of its group could too", () => {
    chownSync(parent, 0, OTHER_UID)
    chmodSync(parent, 0o775)
    expect(refusalOf(() => openStateFolder(state))).toContain(`group ${OTHER_UID}`)
    chownSync(parent, 0, 0)
    expect(openStateFolder(state)).toBe(state)
  })

  test.for(["", "secrets.json"])("who has %j is not believed when it is read", (path) => {
    put("secrets.json")
    chownSync(join(state, path), OTHER_UID, OTHER_UID)
    const refusal = refusalOf(() => readStateFile(state, "secrets.json"))
    expect(refusal).toContain(`belongs to user ${OTHER_UID}`)
  })

  test("who waits where a file is to be written gets none of it", () => {
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
  test("is closed as it is read", () => {
    put("remote/account/lathe.json", 0o644)
    chmodSync(state, 0o777)
    expect(readStateFile(state, "remote", "account", "lathe.json")).toBe("{}")
    expect(listStateFolder(state, "remote")).toEqual(["account"])
    expect([modeOf() & 0o022, modeOf("remote"), modeOf("remote/account")]).toEqual([
      0, 0o700, 0o700,
    ])
    expect(modeOf("remote/account/lathe.json")).toBe(0o600)
  })

  test("is refused as a symbolic link", () => {
    mkdirSync(state)
    symlinkSync(put("other.json"), join(state, "secrets.json"))
    expect(refusalOf(() => readStateFile(state, "secrets.json"))).toContain("symbolic link")
  })

  test("is written whole, for its owner's eyes only", () => {
    expect(readStateFile(state, "remote", "b.json")).toBeNull()
    expect(listStateFolder(state, "remote")).toEqual([])
    expect(writeStateFile(state, ["remote", "b.json"], "one")).toBe(join(state, "remote", "b.json"))
    writeStateFile(state, ["remote", "b.json"], "two")
    expect(readStateFile(state, "remote", "b.json")).toBe("two")
    expect(listStateFolder(state, "remote")).toEqual(["b.json"])
    expect([modeOf("remote"), modeOf("remote", "b.json")]).toEqual([0o700, 0o600])
  })
})
