import { chmod, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest"
import {
  chooseSandbox,
  createTierSandbox,
} from "../../../../container/sandbox/tiers/choose-sandbox.ts"
import { STARTUP_NETWORK_ATTACKS } from "../../../../container/sandbox/tiers/network-test.ts"
import { createSandboxWithoutTask } from "../../../../container/sandbox/sandbox.ts"
import { startToolProcess } from "../../../../container/sandbox/start-process.ts"
import {
  STARTUP_SANDBOX_ATTACK_NAMES,
  testSandbox,
} from "../../../../container/sandbox/tiers/self-test.ts"
import { startHarness } from "../../harness.ts"
import { makeTestRunnerSettings } from "../../../support/runner/runner-settings.ts"
import { listSupportedTiers } from "../../../support/runner/supported-tiers.ts"

const attackPath = join(import.meta.dirname, "../../../../container/launcher/build/attack")
let workDir: string

beforeEach(async () => {
  workDir = await mkdtemp(join(tmpdir(), "lathe-test-"))
})

afterEach(() => rm(workDir, { recursive: true }))

function settingsFor(more: NodeJS.ProcessEnv = {}) {
  return makeTestRunnerSettings({ WORK_DIR: workDir, ...more })
}

test("a sandbox that withstands its attacks is chosen", async ({ skip }) => {
  skip((await listSupportedTiers()).length === 0, "this machine has no sandbox")
  const { sandbox, test: tried } = await chooseSandbox(settingsFor())
  expect(sandbox?.tier).toBe(tried.tier)
  expect(tried).toMatchObject({ ok: true, problem: null })
  expect(tried.attacks.filter(({ refused }) => !refused)).toEqual([])
})

test("a start tries short attacks: read, write, connect, fork and signal", async ({ skip }) => {
  skip((await listSupportedTiers()).length === 0, "this machine has no sandbox")
  const { test: tried } = await chooseSandbox(settingsFor())
  const traces = ["traces_outside", "traces_on_the_network"]
  expect(tried.attacks.map(({ name }) => name)).toEqual([
    ...STARTUP_SANDBOX_ATTACK_NAMES,
    ...traces,
  ])
})

test("a start tries short attacks by a tool with a network", async ({ skip }) => {
  skip((await listSupportedTiers()).length === 0, "this machine has no sandbox")
  const { sandbox, test: tried } = await chooseSandbox(settingsFor())
  const outcomes = STARTUP_NETWORK_ATTACKS.map((name) => ({ name, refused: true }))
  expect(tried).toMatchObject({ network_attacks: outcomes, network_problem: null })
  expect(sandbox?.networkProblem).toBeNull()
})

test("a runner without a network for tools tries no network attack, and refuses a network", async ({
  skip,
}) => {
  skip((await listSupportedTiers()).length === 0, "this machine has no sandbox")
  const { sandbox, test: tried } = await chooseSandbox(settingsFor({ RUNNER_NETWORK: "none" }))
  expect(tried).toMatchObject({ ok: true, network_attacks: [], network_problem: null })
  if (!sandbox) throw new Error("There is no sandbox.")
  const { spawnError } = await startToolProcess({
    tool: "ffmpeg",
    argv: [],
    taskSandbox: createSandboxWithoutTask(sandbox),
    cwd: "/",
    access: "none",
    network: join(workDir, "socket"),
    timeLimitMs: 1000,
    signal: new AbortController().signal,
  }).finished
  expect(spawnError).toBe("The tools of this runner have no network.")
})

test("a short attack that succeeds is detected", async () => {
  const settings = settingsFor()
  const place = { attackPath, ffmpegPath: settings.toolPaths.ffmpeg, workDir }
  const attacks = STARTUP_SANDBOX_ATTACK_NAMES
  const tried = await testSandbox(createTierSandbox("none", settings), { ...place, attacks })
  expect(tried.problem).toBe(
    `not refused: ${STARTUP_SANDBOX_ATTACK_NAMES.join(", ")}, traces_outside, traces_on_the_network`,
  )
})

test("a temporary folder that only the runner may enter is supported", async ({ skip }) => {
  skip((await listSupportedTiers()).length === 0, "this machine has no sandbox")
  const before = process.env["TMPDIR"]
  onTestFinished(() => {
    if (before === undefined) delete process.env["TMPDIR"]
    else process.env["TMPDIR"] = before
  })
  process.env["TMPDIR"] = workDir
  const { test: tried } = await chooseSandbox(settingsFor())
  expect(tried).toMatchObject({ ok: true, problem: null })
})

test("a folder that only root may enter costs no tier, and leaves no mount behind", async ({
  skip,
}) => {
  skip(
    process.getuid?.() !== 0 || (await listSupportedTiers()).length === 0,
    "only root has such folders",
  )
  const closed = await chooseSandbox(settingsFor({ WORK_DIR: join(workDir, "deep", "work") }))
  expect(await readFile("/proc/self/mountinfo", "utf8")).not.toContain(workDir)
  await chmod(workDir, 0o711)
  const open = await chooseSandbox(settingsFor())
  expect([closed.test.tier, closed.test.loss]).toEqual([open.test.tier, open.test.loss])
})

test("a weaker tier reports its loss and the reason for its choice", async ({ skip }) => {
  skip((await listSupportedTiers()).length === 0, "this machine has no sandbox")
  const { test: tried } = await chooseSandbox(settingsFor())
  expect(tried.loss === null).toBe(tried.tier === "namespaces")
  expect(String(tried.loss)).toMatch(
    /^(?:null$|Tools run without (?:Landlock|namespaces of their own \(.+\)))/,
  )
})

test("the self-test detects the success of every attack without a sandbox", async () => {
  const settings = settingsFor()
  const place = { attackPath, ffmpegPath: settings.toolPaths.ffmpeg, workDir }
  const tried = await testSandbox(createTierSandbox("none", settings), place)
  expect(tried.ok).toBe(false)
  const held = tried.attacks.filter(({ refused }) => refused).map(({ name }) => name)
  // The system itself may refuse this attack.
  expect(held.filter((name) => name !== "namespace")).toEqual([])
})

test("a runner whose tools work in no tier accepts no task, and its health names the reason", async () => {
  const settings = settingsFor({ FFMPEG_PATH: "/no/such/ffmpeg", ALLOW_UNSANDBOXED: "1" })
  const choice = await chooseSandbox(settings)
  const isOffered = (await listSupportedTiers()).length > 0
  expect(choice.sandbox === null).toBe(isOffered)
  const harness = await startHarness({}, { sandbox: null, test: choice.test })
  const answer = await harness.call("POST", "/tasks", harness.order([["x"]]))
  expect(answer.status).toBe(503)
  expect(await answer.json()).toEqual({ error: "unsandboxed" })
  const health = await harness.call("GET", "/health")
  expect(await health.json()).toMatchObject({ sandbox: { tier: choice.test.tier } })
  await harness.close()
})
