import { execFile } from "node:child_process"
import { mkdtemp, open, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it, onTestFinished, test } from "vitest"
import { createTierSandbox } from "../../../container/sandbox/tiers/choose-sandbox.ts"
import { createSandboxWithoutTask } from "../../../container/sandbox/sandbox.ts"
import { toRunnerSettings, parseRunnerEnvironment } from "../../../container/settings.ts"
import { startProcessWithOnDemandFile } from "../../../container/sandbox/watched-reads.ts"
import type { FileByteRange, OnDemandFile } from "../../../container/sandbox/watched-reads.ts"
import { makeRandom } from "../../support/random.ts"

const SIZE = 300_000
const BLOCK = 1000

it("loads bytes before a tool reads them, wherever it reads", async () => {
  const { draw, whole } = makeRandom(5)
  for (let round = 0; round < 10; round += 1) {
    const start = whole(SIZE)
    const { lab, text } = await readLazily(start, draw() < 0.5 ? 1 : 16)
    expect({ round, text }).toEqual({ round, text: textFrom({ start, end: SIZE }) })
    expect(lab.broughtFrom).toBeGreaterThan(start - BLOCK)
  }
})

it("leaves other files unchanged", async () => {
  const { text } = await readLazily(0, 1, 0n)
  // A file whose bytes are never loaded consists of holes.
  expect(text).toBe("\0".repeat(SIZE))
})

it("gives a tool no bytes before they are loaded", async () => {
  const lab = await openLab(() => Promise.reject(new Error("It is gone.")))
  const failures: unknown[] = []
  const started = startProcessWithOnDemandFile(lab.spec(0), lab.file, (error) => {
    failures.push(error)
    lab.stop.abort()
  })
  expect(await started.finished).toMatchObject({ stdout: "", cause: "aborted" })
  expect(failures).toEqual([new Error("It is gone.")])
})

it("fails a tool whose requests get no answer", async () => {
  const reads = new URL("../../../container/launcher/build/reads.so", import.meta.url).pathname
  const reading = promisify(execFile)("cat", [import.meta.filename], {
    env: { ...process.env, LD_PRELOAD: reads },
  })
  await expect(reading).rejects.toThrow("Input/output error")
})

test.for<[string, string, number]>([
  ["for ever, and reads no answer", "while :; do echo '0 0 1'; done >&3", 0],
  ["again before it is answered", "printf '%s 0 9\\n%s 9 9\\n' $INODE $INODE >&3; sleep 9", 1],
  ["for a range past the end", `echo "$INODE ${SIZE} 1" >&3; sleep 9`, 0],
  ["for a range that ends past the end", `echo "$INODE 0 ${SIZE + 1}" >&3; sleep 9`, 0],
  ["for nothing", 'echo "$INODE 5 0" >&3; sleep 9', 0],
  ["for numbers above the maximum", 'echo "$INODE 9999999999999999 1" >&3; sleep 9', 0],
  ["before the beginning", 'echo "$INODE -5 9" >&3; sleep 9', 0],
  ["by a malformed line", "head -c 300000 /dev/zero >&3; echo >&3; sleep 9", 0],
  ["too often", "while yes '0 0 1' | head -n 2000 >&3; do head -c 32000; done >/dev/null", 0],
])("ends a hostile tool that asks %s", async ([, script, brought]) => {
  let brings = 0
  const lab = await openLab(async (wanted) => {
    brings += 1
    await new Promise((resolve) => lab.stop.signal.addEventListener("abort", resolve))
    return wanted
  })
  const failures: unknown[] = []
  const argv = ["-c", script.replaceAll("$INODE", String(lab.file.inode))]
  const spec = { ...lab.spec(0), tool: "sh", argv, timeLimitMs: 60_000 }
  const { cause } = await startProcessWithOnDemandFile(spec, lab.file, (error) => {
    failures.push(error)
    lab.stop.abort()
  }).finished
  expect({ cause, failures: failures.length, brings }).toEqual({
    cause: "aborted",
    failures: 1,
    brings: brought,
  })
})

/** Has `tail` read a file from a byte on, with `blocks` blocks loaded at a time. */
async function readLazily(start: number, blocks: number, inode?: bigint) {
  const lab = await openLab(async (wanted) => {
    const from = Math.floor(wanted.start / BLOCK) * BLOCK
    const end = Math.min(SIZE, Math.max(wanted.end, from + blocks * BLOCK))
    await lab.fill({ start: from, end })
    return { start: from, end }
  })
  const file = inode === undefined ? lab.file : { ...lab.file, inode }
  const started = startProcessWithOnDemandFile(lab.spec(start), file, () => lab.stop.abort())
  const { stdout, exitCode } = await started.finished
  expect(exitCode).toBe(0)
  return { lab, text: stdout }
}

async function openLab(load: OnDemandFile["load"]) {
  const workspace = await mkdtemp(join(tmpdir(), "lathe-reads-"))
  const handle = await open(join(workspace, "in"), "wx")
  onTestFinished(async () => {
    await handle.close()
    await rm(workspace, { recursive: true })
  })
  await handle.truncate(SIZE)
  const { ino: inode } = await handle.stat({ bigint: true })
  const stop = new AbortController()
  const sandbox = createTierSandbox("none", toRunnerSettings(parseRunnerEnvironment({})))
  const lab = {
    stop,
    broughtFrom: SIZE,
    file: { inode, size: SIZE, load },
    async fill({ start, end }: FileByteRange): Promise<void> {
      lab.broughtFrom = Math.min(lab.broughtFrom, start)
      await handle.write(textFrom({ start, end }), start)
    },
    spec: (start: number) => ({
      tool: "tail",
      argv: ["-c", `+${start + 1}`, "in"],
      taskSandbox: createSandboxWithoutTask(sandbox),
      cwd: workspace,
      access: "read" as const,
      timeLimitMs: 10_000,
      stdoutBytesMax: SIZE,
      signal: stop.signal,
    }),
  }
  return lab
}

/** Returns the file's content in a range: numbers of eight characters each. */
function textFrom({ start, end }: FileByteRange): string {
  const first = Math.floor(start / 8)
  const count = Math.ceil((end - start) / 8) + 1
  const numbers = Array.from({ length: count }, (_, index) =>
    String(first + index).padStart(8, "."),
  )
  const skipped = start - first * 8
  return numbers.join("").slice(skipped, skipped + end - start)
}
