import { execFile } from "node:child_process"
import { chmod } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { copyProject } from "../develop/extended-project.ts"
import { buildKernelFeatureHider } from "../../support/runner/hide.ts"
import { listSupportedTiers } from "../../support/runner/supported-tiers.ts"

const PROGRAM = "test/system/security/look-around-program.ts"
const WITHOUT_BUBBLEWRAP = ["unshare", "--mount", "--", "sh", "-c"]
const HIDE = "mount --bind /dev/null /usr/bin/bwrap && exec "
const NOTHING = { processes: 0, shadow: 0, secrets: 0, root: 0 }

const run = promisify(execFile)
const opened = new AsyncDisposableStack()
afterAll(async () => await opened.disposeAsync())

const canTest = process.getuid?.() === 0 && (await listSupportedTiers()).includes("namespaces")
const canHide =
  canTest &&
  (await run(WITHOUT_BUBBLEWRAP[0] ?? "", [...WITHOUT_BUBBLEWRAP.slice(1), `${HIDE}true`]).then(
    () => true,
    () => false,
  ))

const seen = z.object({
  processes: z.number(),
  shadow: z.number(),
  secrets: z.number(),
  root: z.number(),
})
const result = z.object({ seen, said: z.array(z.string()) })

/** An empty folder below one that only root may enter, as /root is. */
async function makeClosedFolder(): Promise<string> {
  return opened.use(await makeTempFolder("closed")).path
}

/** The program that looks around, where every user reaches it. */
async function buildTool(stateDir: string): Promise<string> {
  const { path } = opened.use(await makeTempFolder("tool"))
  await chmod(path, 0o755)
  const tool = join(path, "ffmpeg")
  const secrets = `-DSECRETS="${join(stateDir, "secrets.json")}"`
  await run("cc", ["-O1", secrets, "-o", tool, "test/system/security/look-around.c"])
  return tool
}

type Wrap = (words: string[]) => string[]

async function lookAround(stateDir: string, folder = process.cwd(), wrap: Wrap = (words) => words) {
  const words = [process.execPath, PROGRAM, stateDir, folder, await buildTool(stateDir)]
  const [program = "", ...argv] = wrap(words)
  const { stdout } = await run(program, argv)
  const { said, ...rest } = result.parse(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""))
  const events = said.filter((each) => each.startsWith("{"))
  const sentences = said.filter((each) => /^[A-Z]/.test(each))
  return { ...rest, events, sentences }
}

describe.runIf(canTest)("a start as root", () => {
  test("runs tools in namespaces with a new state folder", async () => {
    const { seen: found, events, sentences } = await lookAround(await makeClosedFolder())
    expect(found).toEqual(NOTHING)
    expect(events.filter((each) => each.includes('"sandbox.'))).toEqual([
      expect.stringContaining('"event":"sandbox.chosen"'),
    ])
    expect(sentences).toEqual([expect.stringMatching(/^Lathe serves /)])
  })

  test("runs tools in namespaces with a clone and a state folder below a closed folder", async () => {
    await using project = await copyProject()
    const { seen: found, sentences } = await lookAround(join(project.path, ".lathe"), project.path)
    expect(found).toEqual(NOTHING)
    expect(sentences).toEqual([expect.stringMatching(/^Lathe serves /)])
  })

  test("runs tools in namespaces on a kernel without Landlock, and logs the lost protection", async ({
    skip,
  }) => {
    const hider = await buildKernelFeatureHider()
    if (!hider) return skip("there is no C compiler")
    opened.use(hider)
    await using project = await copyProject()
    const stateDir = join(project.path, ".lathe")
    const {
      seen: found,
      events,
      sentences,
    } = await lookAround(stateDir, project.path, (words) => [...hider.words("landlock"), ...words])
    expect(found).toEqual(NOTHING)
    expect(events.filter((each) => each.includes('"sandbox.'))).toEqual([
      expect.stringContaining('"tier":"mounts"'),
    ])
    expect(sentences).toEqual([
      expect.stringMatching(/^Tools run without Landlock, /),
      expect.stringMatching(/^Lathe serves /),
    ])
  })

  test.runIf(canHide)(
    "logs in one sentence the lost protection without namespaces, and its reason",
    async () => {
      const stateDir = await makeClosedFolder()
      const {
        seen: found,
        events,
        sentences,
      } = await lookAround(stateDir, process.cwd(), (words) => [
        ...WITHOUT_BUBBLEWRAP,
        `${HIDE}${words.join(" ")}`,
      ])
      expect(found.processes).toBeGreaterThan(0)
      expect(found.shadow).toBe(1)
      expect(sentences[0]).toMatch(
        /^Tools run without namespaces of their own \(.*bwrap.*\): they can find out which files and processes this machine has, but open, change and signal none of them\.$/,
      )
      expect(sentences).toHaveLength(2)
      expect(events.filter((each) => each.includes("sandbox.refused"))).toEqual([])
    },
  )
})
