import { spawnSync } from "node:child_process"
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { delimiter, join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { makeStartScriptArguments } from "../../../scripts/start/bundles.ts"
import { makeChildEnvironment } from "../../../scripts/cli/environment.ts"
import { findFreePort } from "../../../scripts/cli/ports.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

// The service ends at once with one sentence, and installs nothing.

const NOBODY = 65_534
/** A start that goes on without an end takes no other signal. */
const ENDED = { timeout: 30_000, killSignal: "SIGKILL" } as const
const INSTALLERS = ["apt-get", "npm", "pip", "pip3"]

const opened = new AsyncDisposableStack()
let folder: string
let programs: string
let installed: string

beforeAll(async () => {
  folder = opened.use(await makeTempFolder("refused")).path
  chmodSync(folder, 0o755)
  programs = join(folder, "programs")
  installed = join(folder, "installed")
  mkdirSync(programs)
  for (const name of INSTALLERS) {
    writeFileSync(join(programs, name), `#!/bin/sh\necho "$0 $*" >>${installed}\n`, { mode: 0o755 })
  }
})

afterAll(async () => await opened.disposeAsync())

describe("npm start", () => {
  test.each([
    [
      { FFMPEG_PATH: "/nowhere/ffmpeg" },
      /^FFMPEG_PATH is "\/nowhere\/ffmpeg", which does not exist: /,
    ],
    [{ FFPROBE_PATH: "/bin/true" }, /^FFPROBE_PATH is "\/bin\/true", which is another program: /],
    [{ FETCH_FFMPEG_PATH: "/etc/passwd" }, /^FETCH_FFMPEG_PATH is .*, which cannot be run: /],
    [{ HOST: "no address" }, /^HOST must be an address of this machine, .*, not "no address"\.$/],
    [{ HOST: "192.0.2.1" }, /^Lathe cannot listen on port \d+ of 192\.0\.2\.1: .*; set HOST to /],
    [{ STATE_DIR: "/proc/nothing/state" }, /^STATE_DIR cannot be used: .*\/proc\/nothing/],
    [{ STATE_DIR: "/dev/null" }, /^STATE_DIR is no folder: \/dev\/null\.$/],
    [{ STATE_DIR: "/dev/null/state" }, /^STATE_DIR cannot be used: \/dev\/null is no folder\.$/],
  ])("with %o prints one sentence", async (settings, sentence) => {
    const { status, stderr } = await start(settings)
    expect(stderr.trim()).toMatch(sentence)
    expect(stderr.trim().split("\n")).toHaveLength(1)
    expect(status).toBe(1)
    expect(existsSync(installed)).toBe(false)
  })

  test("leaves a folder that is no state folder unchanged", async () => {
    const home = join(folder, "home")
    mkdirSync(join(home, "work"), { recursive: true })
    writeFileSync(join(home, "letter.txt"), "", { mode: 0o644 })
    const before = modesIn(home)
    const { stderr } = await start({ STATE_DIR: home })
    expect(stderr).toContain(
      `STATE_DIR is ${home}, which contains other files than those of a service (letter.txt)`,
    )
    expect(modesIn(home)).toEqual(before)
  })

  async function start(settings: Record<string, string>) {
    const stateDir = join(folder, "state")
    return spawnSync(process.execPath, makeStartScriptArguments(process.cwd()), {
      env: {
        ...makeChildEnvironment(),
        PATH: programs + delimiter + process.env["PATH"],
        PORT: String(await findFreePort()),
        STATE_DIR: stateDir,
        ...settings,
      },
      encoding: "utf8",
      ...ENDED,
    })
  }
})

describe("a clone whose packages differ from its lock file", () => {
  const sentence =
    "The npm packages of this version of Lathe are not installed: run `npm run setup` as the owner of this clone.\n"
  let clone: string

  beforeAll(() => {
    clone = join(folder, "clone")
    mkdirSync(join(clone, "scripts"), { recursive: true })
    for (const name of ["package.json", "package-lock.json", "scripts/run"]) {
      cpSync(name, join(clone, name))
    }
  })

  test("does not start", () => {
    expect(runScript("start")).toMatchObject({ status: 1, stderr: sentence })
    expect(existsSync(installed)).toBe(false)
  })

  test.runIf(process.getuid?.() === 0)("is installed by its owner only", () => {
    const another = { uid: NOBODY, gid: NOBODY }
    expect(runScript("keys", another)).toMatchObject({ status: 1, stderr: sentence })
    mkdirSync(join(clone, "node_modules"))
    expect(runScript("keys", another)).toMatchObject({ status: 1, stderr: sentence })
    expect(existsSync(installed)).toBe(false)
  })

  function runScript(name: string, user = {}) {
    const env = { PATH: programs + delimiter + process.env["PATH"] }
    return spawnSync("sh", ["scripts/run", name], {
      cwd: clone,
      env,
      encoding: "utf8",
      ...user,
      ...ENDED,
    })
  }
})

function modesIn(path: string): number[] {
  return ["", ...readdirSync(path)].map((name) => statSync(join(path, name)).mode)
}
