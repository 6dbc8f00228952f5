import { execFile } from "node:child_process"
import { appendFile, chmod, chown, readFile, readdir, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { isReachableByAllUsers } from "../../../container/sandbox/system-paths.ts"
import { makeChildEnvironment } from "../../../scripts/cli/environment.ts"
import { findFreePort } from "../../../scripts/cli/ports.ts"
import { startNodeProgram, waitForReadyLine } from "../../../scripts/cli/program.ts"
import type { NodeProgram } from "../../../scripts/cli/program.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { copyProject } from "./extended-project.ts"
import type { ExtendedProject } from "./extended-project.ts"

// A clone that root has set up, and another user, who may not write to it, starts.

const run = promisify(execFile)

const NOBODY = 65_534
const START = "start-as-nobody.mjs"
const AS_NOBODY =
  `process.setgroups([]); process.setgid(${NOBODY}); process.setuid(${NOBODY}); ` +
  `await import("./scripts/start/main.ts")`
const SECRET = "a-value-that-is-to-stay-in-the-environment"

const canBeAnother =
  process.getuid?.() === 0 &&
  isReachableByAllUsers(join(import.meta.dirname, "../../../node_modules/.cache"))
const LACK = canBeAnother ? "" : ": only root can be another user, in a folder open to that"

describe.skipIf(!canBeAnother)(`a clone that another user has set up${LACK}`, () => {
  const opened = new AsyncDisposableStack()
  let project: ExtendedProject
  let stateDir: string

  beforeAll(async () => {
    project = opened.use(await copyProject())
    await chmod(project.path, 0o755)
    stateDir = opened.use(await makeTempFolder("nobody")).path
    await chown(stateDir, NOBODY, NOBODY)
    await writeFile(join(project.path, ".env"), `LATHE_SECRET=${SECRET}\n`)
    await writeFile(join(project.path, ".dev.vars"), `LIGHT_INSTANCES=${SECRET}\n`)
    await writeFile(join(project.path, START), AS_NOBODY)
    await bundle({ OPERATOR_TOKEN: SECRET, RUNNER_INSTANCES: SECRET })
  })

  afterAll(async () => {
    await opened.disposeAsync()
  })

  it("contains no value of the environment of its set-up", async () => {
    const folder = join(project.path, "node_modules/.cache/lathe", project.path)
    const names = (await readdir(folder)).filter((name) => name.includes("."))
    const texts = await Promise.all(names.map(async (name) => await readFile(join(folder, name))))
    expect(names).toContain("workerd.json")
    expect(texts.filter((text) => text.includes(SECRET))).toEqual([])
  })

  it("serves", async () => {
    await using program = await startAsNobody()
    expect(await waitForReadyLine(program, /^Lathe serves /)).toContain("http://127.0.0.1:")
  })

  it("names the user who must run the set-up again after its sources changed", async () => {
    const changed = join(project.path, "src/index.ts")
    await utimes(changed, new Date(), new Date(Date.now() - 1000))
    await using program = await startAsNobody()
    expect(await program.exited).toBe(1)
    const { stderr } = program.tail()
    expect(stderr.trim()).toMatch(
      /^The service is not bundled from these sources, .*: run `npm run setup` as the owner of this clone\.$/,
    )
  })

  it("reports the error and its place in a source that cannot be bundled", async () => {
    await appendFile(join(project.path, "src/index.ts"), "\nconst broken: = 1\n")
    const failure: unknown = await bundle().catch((error: unknown) => error)
    const { stderr } = z.object({ code: z.literal(1), stderr: z.string() }).parse(failure)
    expect(stderr).toMatch(/src\/index\.ts:\d+/)
    expect(stderr).not.toMatch(/^ +at /m)
  })

  async function bundle(more: Record<string, string> = {}): Promise<void> {
    const environment = { ...makeChildEnvironment(), ...more }
    const options = { cwd: project.path, env: environment }
    await run(process.execPath, ["scripts/build/main.ts"], options)
  }

  async function startAsNobody(): Promise<NodeProgram> {
    const settings = { PORT: String(await findFreePort()), STATE_DIR: stateDir, HOME: stateDir }
    return startNodeProgram({
      words: [START],
      folder: project.path,
      environment: { ...makeChildEnvironment(), ...settings },
    })
  }
})
