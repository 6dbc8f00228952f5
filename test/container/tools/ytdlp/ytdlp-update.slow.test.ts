import { execFile } from "node:child_process"
import { chown, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { startYtdlpUpdate } from "../../../../container/tools/ytdlp/ytdlp-update.ts"
import type { YtdlpUpdate } from "../../../../container/tools/ytdlp/ytdlp-update.ts"
import { servePackageIndex } from "../../../support/media/package-index.ts"
import type { PackageIndex } from "../../../support/media/package-index.ts"
import { waitFor } from "../../harness.ts"
import { makeTestRunnerSettings } from "../../../support/runner/runner-settings.ts"

const run = promisify(execFile)
const VERSION = "2031.4.9"
const OTHER_UID = 23_456
/** Index without a server. */
const DEAD_INDEX = "http://127.0.0.1:9/simple/"

let folder: string
let python: string
let index: PackageIndex
let workDir: string
let stopping: AbortController

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-index-"))
  await run("python3", ["-m", "venv", join(folder, "venv")])
  python = join(folder, "venv", "bin", "python")
})

afterAll(async () => {
  await rm(folder, { recursive: true })
})

beforeEach(async () => {
  workDir = await mkdtemp(join(tmpdir(), "lathe-work-"))
  index = await servePackageIndex({ python, folder, version: VERSION })
  stopping = new AbortController()
})

afterEach(async () => {
  stopping.abort()
  await index.close()
  await rm(workDir, { recursive: true })
})

/** Starts the installation as a runner does with this YTDLP_VERSION. */
async function start(
  text: string,
  more: { PIP_INDEX_URL?: string; FETCH_PYTHON_PATH?: string } = {},
): Promise<YtdlpUpdate> {
  const { FETCH_PYTHON_PATH = python, ...variables } = more
  const settings = makeTestRunnerSettings({
    YTDLP_VERSION: text,
    WORK_DIR: workDir,
    FETCH_PYTHON_PATH,
  })
  const environment = { PIP_INDEX_URL: index.url, PIP_RETRIES: "0", ...variables }
  const update = startYtdlpUpdate(settings, environment, stopping.signal)
  await update.ready()
  return update
}

async function versionIn(ytdlpFolder: string | null): Promise<string> {
  const program = "import yt_dlp; print(yt_dlp.__version__)"
  const { stdout } = await run(python, ["-c", program], {
    env: { PYTHONPATH: ytdlpFolder ?? "" },
  })
  return stdout.trim()
}

function names(): Promise<string[]> {
  return readdir(join(workDir, "yt-dlp"))
}

describe("YTDLP_VERSION", () => {
  it("is installed beside the built-in version, compiled, once", async () => {
    const asked = `2031.04.09  sha256:${index.sha256.toUpperCase()}`
    const update = await start(asked)
    expect(update.health()).toEqual({ version: VERSION, state: "installed", problem: null })
    expect(update.folder()).toBe(join(workDir, "yt-dlp", `${VERSION}-${index.sha256}`))
    expect(await versionIn(update.folder())).toBe(VERSION)
    const compiled = await readdir(join(update.folder() ?? "", "yt_dlp", "__pycache__"))
    expect(compiled.length).toBeGreaterThan(0)
    await expect(run(python, ["-c", "import yt_dlp"])).rejects.toThrow("No module named")

    const again = await start(asked, { PIP_INDEX_URL: DEAD_INDEX })
    expect(again.folder()).toBe(update.folder())
    expect(index.downloads()).toBe(1)
  })

  it.runIf(process.getuid?.() === 0).each(["", "its version"])(
    "replaces a folder of another user (%j)",
    async (part) => {
      const planted = join(workDir, "yt-dlp", `${VERSION}-${index.sha256}`)
      await mkdir(join(planted, "yt_dlp"), { recursive: true })
      await writeFile(join(planted, "yt_dlp", "__init__.py"), '__version__ = "planted"')
      await chown(part === "" ? join(workDir, "yt-dlp") : planted, OTHER_UID, OTHER_UID)
      const update = await start(`${VERSION} sha256:${index.sha256}`)
      expect(await versionIn(update.folder())).toBe(VERSION)
    },
  )

  it("is not installed if its wheel has another hash", async () => {
    const update = await start(`${VERSION} sha256:${"0".repeat(64)}`)
    expect(update.folder()).toBeNull()
    expect(update.health()).toMatchObject({
      state: "failed",
      problem: expect.stringContaining("does not have the SHA-256 of YTDLP_VERSION"),
    })
    expect(await names()).toEqual([])
  })

  it("is not installed if the index lacks the version or is down", async () => {
    const missing = await start(`2031.5.1 sha256:${index.sha256}`)
    expect(missing.health()?.problem).toContain(
      "2031.5.1 could not be installed: the package index",
    )
    const asked = `${VERSION} sha256:${index.sha256}`
    const down = await start(asked, { PIP_INDEX_URL: DEAD_INDEX })
    expect(down.health()).toMatchObject({ version: VERSION, state: "failed" })
    expect(down.folder()).toBeNull()
    expect(await names()).toEqual([])
  })

  it("is not installed without Python or pip", async () => {
    const asked = `${VERSION} sha256:${index.sha256}`
    const without = await start(asked, { FETCH_PYTHON_PATH: join(folder, "none") })
    expect(without.health()?.problem).toContain("no Python at FETCH_PYTHON_PATH")
    await run("python3", ["-m", "venv", "--without-pip", join(folder, "bare")])
    const bare = await start(asked, { FETCH_PYTHON_PATH: join(folder, "bare", "bin", "python") })
    expect(bare.health()?.problem).toContain("has no pip")
  })

  it("is never used after an interrupted installation, which a later start removes", async () => {
    index.stall()
    const asked = `${VERSION} sha256:${index.sha256}`
    const starting = start(asked)
    await waitFor(() => index.downloads() === 1)
    stopping.abort()
    expect((await starting).folder()).toBeNull()
    const left = join(workDir, "yt-dlp", "installing-of-a-runner-that-was-killed")
    await mkdir(join(left, "packages"), { recursive: true })
    await utimes(left, 0, 0)
    await index.close()

    stopping = new AbortController()
    index = await servePackageIndex({ python, folder, version: VERSION })
    const update = await start(asked)
    expect(await versionIn(update.folder())).toBe(VERSION)
    expect(await names()).toEqual([`${VERSION}-${index.sha256}`])
  })

  it("replaces the previous version, and is removed with the setting", async () => {
    const first = await start(`${VERSION} sha256:${index.sha256}`)
    await index.close()
    index = await servePackageIndex({ python, folder, version: "2031.6.2" })
    const second = await start(`2031.6.2 sha256:${index.sha256}`)
    expect(await versionIn(second.folder())).toBe("2031.6.2")
    expect(await names()).not.toContain(first.folder())
    expect(await names()).toHaveLength(1)
    const none = await start("")
    expect(none.health()).toBeNull()
    expect(none.folder()).toBeNull()
    await waitFor(async () => (await readdir(workDir)).length === 0)
  })

  it.each(["2031.4.9", "sha256:00", `yt-dlp==2031.4.9 sha256:${"0".repeat(64)}`, "latest", "x"])(
    "with the invalid value %s fails in health, and the built-in version serves",
    async (text) => {
      const update = await start(text)
      expect(update.folder()).toBeNull()
      expect(update.health()).toEqual({
        version: null,
        state: "failed",
        problem: expect.stringContaining("YTDLP_VERSION: expected one version and the SHA-256 of"),
      })
    },
  )
})
