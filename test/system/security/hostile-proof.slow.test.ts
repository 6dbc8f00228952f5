import { spawn, spawnSync } from "node:child_process"
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { findMediaTools } from "../../../scripts/cli/media-tools.ts"
import { replaceFileKeysByNames } from "../../../src/ffmpeg/file-keys.ts"
import { makeWorkspaceInputName } from "../../../src/contract/task.ts"
import { bring, isLight, outputsOf } from "../../corpus/attack.ts"
import type { Attack } from "../../corpus/attack.ts"
import { wordsOf } from "../../corpus/fixtures.ts"
import { ATTACKS } from "../../corpus/hostile-commands.ts"
import { SHELL_LINES } from "../../corpus/hostile-requests.ts"
import { makeCanaryMedia } from "../../corpus/canary-media.ts"
import { makeMarker, openCanaries } from "../../corpus/canaries.ts"
import type { Evidence } from "../../corpus/canaries.ts"
import { detectFfmpegBuild } from "../../support/media/ffmpeg-builds.ts"

const FFMPEG = findMediaTools().ffmpeg
const RUN_MS_MAX = 25_000

const build = detectFfmpegBuild(FFMPEG)
const neighbour = makeMarker()
const stored = makeMarker()
const environment = makeMarker()
let media: Record<string, Uint8Array>

beforeAll(async () => {
  media = await makeCanaryMedia()
  warmFonts()
}, 300_000)

/** Whoever draws text first on a fresh machine makes fontconfig's cache, which takes its time. */
function warmFonts() {
  const drawn = ["-f", "lavfi", "-i", "color=d=0.1", "-vf", "drawtext=text=a", "-f", "null", "-"]
  spawnSync(FFMPEG, ["-nostdin", ...drawn], { stdio: "ignore" })
}

type Attempt = {
  harm: string[]
  log: string
  /** Null where a run was ended by its time, which proves nothing. */
  exitCodes: (number | null)[]
}

/** Runs an attack with nothing around it, once more where the machine was too busy for it. */
async function attackBare(attack: Attack): Promise<Attempt> {
  const first = await attackOnce(attack)
  const isUndecided = first.harm.length === 0 && first.exitCodes.includes(null)
  return isUndecided ? await attackOnce(attack) : first
}

async function attackOnce(attack: Attack): Promise<Attempt> {
  const base = await mkdtemp(join(tmpdir(), "lathe-bare-"))
  const [work, state] = [join(base, "work"), join(base, "state")]
  const workspace = join(work, "mine")
  const blobs = join(state, "v3/r2/bucket/blobs")
  for (const folder of [workspace, join(work, "theirs"), blobs]) {
    await mkdir(folder, { recursive: true })
  }
  await writeFile(join(work, "theirs/in_1.txt"), neighbour)
  await writeFile(join(state, "secrets.json"), stored)
  await writeFile(join(blobs, "blob"), stored)
  await using canaries = await openCanaries({ work, state, media }, [
    neighbour,
    stored,
    environment,
  ])
  try {
    const brought = await bring(attack, canaries.place)
    const names = new Map(Object.entries(outputsOf(attack)))
    for (const { key, name, content } of brought) {
      names.set(key, makeWorkspaceInputName(key, name))
      await writeFile(join(workspace, makeWorkspaceInputName(key, name)), content)
    }
    const lines = [attack.words(canaries.place)].flat()
    const ends = []
    for (const line of lines)
      ends.push(await runBare(replaceFileKeysByNames(wordsOf(line), names), workspace))
    const evidence: Evidence = { log: ends.map(({ log }) => log).join("\n") }
    const own = new Set(brought.map(({ key, name }) => makeWorkspaceInputName(key, name)))
    for (const name of (await readdir(workspace)).filter((each) => !own.has(each))) {
      evidence[name] = await readFile(join(workspace, name))
    }
    const isDone = ends.every(({ exitCode }) => exitCode === 0)
    const shown = evidence["out.bin"] ?? ""
    const harm = [
      ...(await canaries.damage(evidence)),
      ...(attack.harm === "success" && isDone ? ["it succeeded"] : []),
      ...(attack.harm === "picture" && isLight(Buffer.from(shown))
        ? ["it shows part of the file"]
        : []),
    ]
    const exitCodes = ends.map(({ exitCode }) => exitCode)
    return { harm, log: String(evidence["log"]), exitCodes }
  } finally {
    await rm(base, { recursive: true, force: true })
  }
}

async function runBare(words: string[], cwd: string) {
  const child = spawn(FFMPEG, ["-nostdin", "-hide_banner", "-y", ...words], {
    cwd,
    env: { PATH: process.env["PATH"], CANARY: environment },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: RUN_MS_MAX,
    killSignal: "SIGKILL",
  })
  let log = ""
  child.stderr.on("data", (data: Buffer) => (log = (log + data.toString("latin1")).slice(-65_536)))
  const exitCode = await new Promise<number | null>((resolve) => child.once("close", resolve))
  return { exitCode, log }
}

const possible = Object.entries(ATTACKS).filter(([group]) => !build.cannot.includes(group))
const impossible = Object.entries(ATTACKS).filter(([group]) => build.cannot.includes(group))

describe.concurrent.for(possible)("without a sandbox, %s", ([, attacks]) => {
  const proven = attacks.filter(({ unproven }) => unproven === undefined)
  let tried = 0
  let fired = 0

  test.for(proven.map((attack) => [attack.name, attack] as const))(
    "works by %s",
    async ([, attack], { skip }) => {
      const { harm, log, exitCodes } = await attackBare(attack)
      tried += 1
      if (harm.length > 0) fired += 1
      if (harm.length === 0 && !build.isMeasured) skip(`${build.name} ffmpeg does not do it`)
      const seen = { log, exitCodes }
      expect({ ...seen, isHarmed: harm.length > 0 }).toEqual({ ...seen, isHarmed: true })
    },
  )

  afterAll(() => {
    expect(2 * fired).toBeGreaterThanOrEqual(tried)
  })
})

describe.concurrent.for(impossible)(`${build.name} ffmpeg lacks the code for %s`, ([, attacks]) => {
  test.for(attacks.map((attack) => [attack.name, attack] as const))("by %s", async ([, attack]) => {
    expect((await attackBare(attack)).harm).toEqual([])
  })
})

describe.concurrent("a shell does harm by a command with", () => {
  test.for(SHELL_LINES)("%s", async ([, line]) => {
    const cwd = await mkdtemp(join(tmpdir(), "lathe-shell-"))
    await using canaries = await openCanaries({ work: cwd, state: cwd, media }, [])
    const script = line(canaries.place).replaceAll("{{out_1}}", "out.bin")
    const child = spawn("sh", ["-c", script], { cwd, stdio: "ignore", timeout: RUN_MS_MAX })
    await new Promise((resolve) => child.once("close", resolve))
    const made = await readFile(join(cwd, "out.bin")).catch(() => "")
    expect(await canaries.damage({ made })).not.toEqual([])
    await rm(cwd, { recursive: true, force: true })
  })
})
