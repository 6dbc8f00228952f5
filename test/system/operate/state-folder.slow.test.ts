import { execFileSync, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chmodSync,
  chownSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { makeChildEnvironment } from "../../../scripts/cli/environment.ts"
import { startServiceProcess } from "../../../scripts/cli/service-process.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { openAccount } from "../../corpus/account.ts"

const OTHER_UID = 23_456
const isRoot = process.getuid?.() === 0
const PLANTED = { LATHE_SECRET: "planted".repeat(6), OPERATOR_TOKEN: "planted".repeat(6) }

const opened = new AsyncDisposableStack()
afterAll(async () => await opened.disposeAsync())

async function makeParent(): Promise<string> {
  const { path } = opened.use(await makeTempFolder("parent"))
  // Else the folder above would be what keeps others out.
  chmodSync(path, 0o755)
  return path
}

/** Error output of a script that must refuse a state folder. */
function complaintOf(script: string, stateDir: string, ...words: string[]): string {
  const { status, stderr } = spawnSync(process.execPath, [`scripts/${script}/main.ts`, ...words], {
    env: { ...makeChildEnvironment(), STATE_DIR: stateDir, PORT: "9" },
    encoding: "utf8",
  })
  expect(status).toBe(1)
  return stderr.trim()
}

/** The folders that hold the sockets of a service. */
function socketFoldersIn(stateDir: string): string[] {
  return readdirSync(stateDir).filter((name) => name.startsWith("sockets-"))
}

/** Paths below a folder with which others may do anything. */
function findOpen(stateDir: string): string[] {
  return readdirSync(stateDir, { recursive: true, encoding: "utf8" }).filter(
    (name) => name !== "work" && (statSync(join(stateDir, name)).mode & 0o077) !== 0,
  )
}

test("the next start removes the sockets of a killed service", async () => {
  const stateDir = join(await makeParent(), "state")
  await using killed = await startServiceProcess({ stateDir })
  const [left = ""] = socketFoldersIn(stateDir)
  process.kill(killed.pid, "SIGKILL")
  {
    await using service = await startServiceProcess({ stateDir })
    const [mine = "", ...others] = socketFoldersIn(stateDir)
    expect({ others, isNew: mine !== left }).toEqual({ others: [], isNew: true })
    expect(statSync(join(stateDir, mine)).mode & 0o777).toBe(0o700)
    expect((await fetch(`${service.origin}/v1/health`)).status).toBe(200)
  }
  expect(socketFoldersIn(stateDir)).toEqual([])
})

test("a service runs from a state folder whose path is too long for sockets", async () => {
  const stateDir = join(await makeParent(), "long".repeat(50))
  await using service = await startServiceProcess({ stateDir })
  const account = openAccount(service.origin, await service.makeKey("one"))
  const file = await account.upload("clip.mp4", readFileSync("scripts/demo/command/clip.mp4"))
  expect(file).toMatchObject({ name: "clip.mp4" })
  expect(socketFoldersIn(stateDir)).toHaveLength(1)
})

test.runIf(isRoot)(
  "a start removes no files of another user from the temporary folder",
  async () => {
    const stateDir = join(await makeParent(), "state")
    const hash = createHash("sha256").update(stateDir).digest("hex").slice(0, 12)
    // Names that begin so have been those of sockets.
    const theirs = join(tmpdir(), `lathe-${hash}-theirs`)
    opened.defer(() => rmSync(theirs, { recursive: true }))
    mkdirSync(join(theirs, "inner"), { recursive: true })
    writeFileSync(join(theirs, "inner", "file"), "")
    for (const path of [theirs, join(theirs, "inner")]) chownSync(path, OTHER_UID, OTHER_UID)
    await using service = await startServiceProcess({ stateDir })
    expect((await fetch(`${service.origin}/v1/health`)).status).toBe(200)
    expect(readdirSync(join(theirs, "inner"))).toEqual(["file"])
  },
)

describe("a state folder of an earlier service", () => {
  let stateDir = ""
  beforeAll(async () => {
    stateDir = join(await makeParent(), "state")
    await using service = await startServiceProcess({ stateDir })
    const account = openAccount(service.origin, await service.makeKey("one"))
    await account.upload("clip.mp4", readFileSync("scripts/demo/command/clip.mp4"))
    expect(findOpen(stateDir)).toEqual([])
  })

  test("is closed to others at the next start", async () => {
    execFileSync("chmod", ["-R", "a+rwX", stateDir])
    expect(findOpen(stateDir).length).toBeGreaterThan(10)
    await using service = await startServiceProcess({ stateDir })
    await service.makeKey("two")
    expect(findOpen(stateDir)).toEqual([])
    expect(statSync(stateDir).mode & 0o777).toBe(isRoot ? 0o711 : 0o700)
    if (!isRoot) return
    const kept = [...globSync(join(stateDir, "v3/**/*.sqlite")), join(stateDir, "secrets.json")]
    expect(kept.length).toBeGreaterThan(1)
    for (const path of [stateDir, ...kept]) {
      const { status } = spawnSync("cat", [path], { uid: OTHER_UID, gid: OTHER_UID })
      expect([path, status]).toEqual([path, 1])
    }
  })

  test.runIf(isRoot)("with a file of another user is refused", () => {
    const [database = ""] = globSync(join(stateDir, "v3/d1/**/*.sqlite"))
    chownSync(database, OTHER_UID, OTHER_UID)
    expect(complaintOf("start", stateDir)).toContain(
      `${database} belongs to user ${OTHER_UID}, and this runs as user 0`,
    )
  })
})

describe("a state folder with planted secrets", () => {
  async function plant(): Promise<string> {
    const stateDir = join(await makeParent(), "state")
    mkdirSync(stateDir)
    writeFileSync(join(stateDir, "secrets.json"), JSON.stringify(PLANTED))
    return stateDir
  }

  test.runIf(isRoot)("of another user is refused, also by npm run keys", async () => {
    const stateDir = await plant()
    chownSync(join(stateDir, "secrets.json"), OTHER_UID, OTHER_UID)
    chownSync(stateDir, OTHER_UID, OTHER_UID)
    for (const complaint of [
      complaintOf("start", stateDir),
      complaintOf("keys", stateDir, "list"),
    ]) {
      expect(complaint).toContain(`${stateDir} belongs to user ${OTHER_UID}`)
      expect(complaint).toMatch(/set STATE_DIR to a folder of your own/)
      expect(complaint).not.toMatch(/\n/)
    }
    expect(readdirSync(stateDir)).toEqual(["secrets.json"])
  })

  test("is refused behind a symbolic link", async () => {
    const planted = await plant()
    const stateDir = join(await makeParent(), "link")
    symlinkSync(planted, stateDir)
    for (const complaint of [
      complaintOf("start", stateDir),
      complaintOf("keys", stateDir, "list"),
    ]) {
      expect(complaint).toContain(`${stateDir} is a symbolic link`)
    }
  })

  test("is refused if every user may replace it", async () => {
    const stateDir = await plant()
    const parent = join(stateDir, "..")
    chmodSync(parent, 0o777)
    for (const complaint of [
      complaintOf("start", stateDir),
      complaintOf("keys", stateDir, "list"),
    ]) {
      expect(complaint).toContain(`${parent} may be changed by every user`)
    }
  })
})
