import { writeFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { assignFilesToBundles } from "../../../container/tasks/outputs/assign-bundle-files.ts"
import { measureCpuMs } from "../../support/processor-time.ts"

const never = new AbortController().signal
const order = { inputs: [] }

const outputs = Array.from({ length: 63 }, (_, index) => ({
  key: `out_${index}`,
  name: index < 8 ? `m${index}.mpd` : `p${index}.m3u8`,
}))
const names = Array.from({ length: 4700 }, (_, n) => `${"1".repeat(70)}${n + 10_000}.png`)

/** Returns a playlist that names all other playlists, with templates of this form. */
function textWith(template: (index: number) => string): string {
  return [
    ...Array.from({ length: 16 }, (_, index) => `<S media="${template(index)}"/>`),
    ...outputs.map(({ name }) => `<BaseURL>${name}</BaseURL>\n${name}`),
    ...names.map((name) => name.slice(-9)),
  ].join("\n")
}

/** Limit far above the usual processor time, and far below that of an unbounded search. */
const GATHER_MS_MAX = 20_000
const PATIENT = { timeout: 120_000 }
/** Limit that holds beside other tests as well. */
const BLOCKED_MS_MAX = 10_000

describe("with the maximum of files and playlists, a bundle", PATIENT, () => {
  let workspace: string

  beforeEach(async () => {
    workspace = await mkdtemp(join(tmpdir(), "lathe-bundle-"))
    for (const name of names) writeFileSync(join(workspace, name), "x")
  })

  afterEach(() => rm(workspace, { recursive: true }))

  async function writePlaylists(text: string): Promise<void> {
    for (const { name } of outputs) await writeFile(join(workspace, name), text)
  }

  test.for<[string, (index: number) => string]>([
    ["text in none of the names", (index) => `$RepresentationID$$RepresentationID$q${index}`],
    ["text in all names", (index) => `$RepresentationID$${"1".repeat(index + 1)}$Time$ng`],
    ["text that nearly matches", (index) => `1$RepresentationID$11$Time$0${index % 10}.png`],
  ])(
    "with templates of %s is gathered in time, without blocking the event loop",
    async ([, template]) => {
      await writePlaylists(textWith(template))
      const delay = monitorEventLoopDelay({ resolution: 10 })
      delay.enable()
      const tookMs = await measureCpuMs(async () => {
        const run = { workspace, order, signal: never }
        const gathered = await assignFilesToBundles(run, outputs, PATIENT.timeout)
        expect(gathered).toMatchObject({ blame: "caller", failure: { code: "file_limit" } })
      })
      delay.disable()
      expect(tookMs).toBeLessThan(GATHER_MS_MAX)
      expect(delay.max / 1e6).toBeLessThan(BLOCKED_MS_MAX)
    },
  )

  test("fails at its time limit, and stops when its run is aborted", async () => {
    await writePlaylists(textWith(() => ""))
    const late = await assignFilesToBundles({ workspace, order, signal: never }, outputs, 1)
    expect(late).toMatchObject({
      blame: "caller",
      failure: { code: "time_limit", message: expect.stringContaining("0.001 seconds") },
    })
    const ended = new AbortController()
    const gathering = assignFilesToBundles({ workspace, order, signal: ended.signal }, outputs)
    ended.abort(new Error("nobody wants it"))
    await expect(gathering).rejects.toThrow("nobody wants it")
  })
})
