import { execFile } from "node:child_process"
import { mkdtemp, open, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it, onTestFinished } from "vitest"
import { describeSandbox } from "../../../container/sandbox/choose.ts"
import { runnerSandbox } from "../../../container/sandbox/sandbox.ts"
import { makeSettings, readEnvironment } from "../../../container/settings.ts"
import { startWatched } from "../../../container/sandbox/watched-reads.ts"
import type { Stretch, WatchedFile } from "../../../container/sandbox/watched-reads.ts"
import { makeRandom } from "../../support/random.ts"

const SIZE = 300_000
const BLOCK = 1000

it("has what a tool reads brought before, wherever it reads", async () => {
  const { draw, whole } = makeRandom(5)
  for (let round = 0; round < 10; round += 1) {
    const start = whole(SIZE)
    const { lab, text } = await readLazily(start, draw() < 0.5 ? 1 : 16)
    expect({ round, text }).toEqual({ round, text: textFrom({ start, end: SIZE }) })
    expect(lab.broughtFrom).toBeGreaterThan(start - BLOCK)
  }
})

it("leaves other files as they are", async () => {
  const { text } = await readLazily(0, 1, 0n)
  // A file that nobody brings is one of holes.
  expect(text).toBe("\0".repeat(SIZE))
})

it("gives a tool no bytes that were not brought", async () => {
  const lab = await openLab(() => Promise.reject(new Error("It is gone.")))
  const failures: unknown[] = []
  const started = startWatched(lab.spec(0), lab.file, (error) => {
    failures.push(error)
    lab.stop.abort()
  })
  expect(await started.finished).toMatchObject({ stdout: "", cause: "aborted" })
  expect(failures).toEqual([new Error("It is gone.")])
})

it("fails a tool that nobody answers", async () => {
  const reads = new URL("../../../container/launcher/build/reads.so", import.meta.url).pathname
  const reading = promisify(execFile)("cat", [import.meta.filename], {
    env: { ...process.env, LD_PRELOAD: reads },
  })
  await expect(reading).rejects.toThrow("Input/output error")
})

/** Has `tail` read a file from a byte on, of which so many blocks are brought at a time. */
async function readLazily(start: number, blocks: number, inode?: bigint) {
  const lab = await openLab(async (wanted) => {
    const from = Math.floor(wanted.start / BLOCK) * BLOCK
    const end = Math.min(SIZE, Math.max(wanted.end, from + blocks * BLOCK))
    await lab.fill({ start: from, end })
    return { start: from, end }
  })
  const file = inode === undefined ? lab.file : { ...lab.file, inode }
  const started = startWatched(lab.spec(start), file, () => lab.stop.abort())
  const { stdout, exitCode } = await started.finished
  expect(exitCode).toBe(0)
  return { lab, text: stdout }
}

async function openLab(bring: WatchedFile["bring"]) {
  const workspace = await mkdtemp(join(tmpdir(), "lathe-reads-"))
  const handle = await open(join(workspace, "in"), "wx")
  onTestFinished(async () => {
    await handle.close()
    await rm(workspace, { recursive: true })
  })
  await handle.truncate(SIZE)
  const { ino: inode } = await handle.stat({ bigint: true })
  const stop = new AbortController()
  const sandbox = describeSandbox("none", makeSettings(readEnvironment({})))
  const lab = {
    stop,
    broughtFrom: SIZE,
    file: { inode, bring },
    async fill({ start, end }: Stretch): Promise<void> {
      lab.broughtFrom = Math.min(lab.broughtFrom, start)
      await handle.write(textFrom({ start, end }), start)
    },
    spec: (start: number) => ({
      tool: "tail",
      argv: ["-c", `+${start + 1}`, "in"],
      taskSandbox: runnerSandbox(sandbox),
      cwd: workspace,
      access: "read" as const,
      timeLimitMs: 10_000,
      stdoutBytesMax: SIZE,
      signal: stop.signal,
    }),
  }
  return lab
}

/** What the file holds there: numbers, each in eight places. */
function textFrom({ start, end }: Stretch): string {
  const first = Math.floor(start / 8)
  const count = Math.ceil((end - start) / 8) + 1
  const numbers = Array.from({ length: count }, (_, index) =>
    String(first + index).padStart(8, "."),
  )
  const skipped = start - first * 8
  return numbers.join("").slice(skipped, skipped + end - start)
}
