import { createSocket } from "node:dgram"
import { once } from "node:events"
import { chown, mkdtemp, readFile, readdir, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { openPlace } from "./place.ts"
import { removeTree } from "./remove-tree.ts"
import { runnerSandbox } from "./sandbox.ts"
import type { Sandbox, WaitingForm } from "./sandbox.ts"
import type { Tier } from "./tier.ts"
import { startProcess } from "./start.ts"
import { makeWorkspace } from "./workspace.ts"

export type Attack = { name: string; refused: boolean }

/**
 * Result of the test of one tier; `problem` says why it did not pass, and `loss` what it lacks that a
 * stronger tier would give, and why that one is not used. `network_problem` says why its tools can be
 * given no network, without which the tier still serves for media.
 */
export type SelfTest = {
  tier: Tier
  ok: boolean
  /** Whether this system can sandbox tools at all. */
  supported: boolean
  attacks: Attack[]
  /** Of a tool that has a network. */
  network_attacks: Attack[]
  problem: string | null
  loss: string | null
  network_problem: string | null
}

export type SelfTestPaths = {
  attackPath: string
  ffmpegPath: string
  workDir: string
  /** The attacks that are tried; all of them without it. */
  attacks?: readonly (typeof ATTACK_NAMES)[number][]
  /** What waits in the sandboxes in which the tools run; without it, they are made for them. */
  waits?: WaitingForm
  /** Tools beside, for which sandboxes have to be able to wait. */
  toolPaths?: readonly string[]
}

/** What the attack program tries; an attack that it does not report counts as not refused. */
export const ATTACK_NAMES = [
  "read_outside",
  "list_outside",
  "write_outside",
  "truncate_outside",
  "change_rights_outside",
  "tcp",
  "udp",
  "unix_socket",
  "fork",
  "signal_others",
  "find_peer",
  "namespace",
  "symlink",
  "hard_link",
  "set_id_file",
  "whiteout",
  "unnamed_file",
  "run_from_memory",
  "folder",
  "shared_file",
  "shared_object",
  "run_own",
  "run_others",
] as const

/** What each start of a runner tries: one attack on each thing that the sandbox protects. */
export const SHORT_ATTACK_NAMES = [
  "read_outside",
  "write_outside",
  "tcp",
  "fork",
  "signal_others",
] as const satisfies readonly (typeof ATTACK_NAMES)[number][]

const SECRET = "Nobody in a sandbox reads this."
/** A start on a quarter of a processor takes as long as several on a whole one. */
const TIME_LIMIT_MS = 30_000
const ARRIVAL_MS = 20
const ENCODE =
  "-nostdin -v error -y -f lavfi -i testsrc2=size=64x64:duration=0.2 -c:v mpeg4 made.mp4".split(" ")

/**
 * Runs the attack program and an encode in a sandbox. The results that the program reports are
 * checked against the traces that a successful attack would leave.
 */
export async function testSandbox(
  tested: Sandbox,
  paths: SelfTestPaths,
): Promise<Omit<SelfTest, "loss" | "network_attacks" | "network_problem">> {
  // A disk that has little room says nothing of a sandbox.
  const sandbox = { ...tested, limits: { ...tested.limits, diskReserveBytes: 0 } }
  const opened = runnerSandbox(sandbox)
  const run = { taskId: crypto.randomUUID(), fence: 0 }
  const workspace = await makeWorkspace(paths.workDir, run, opened.uid)
  const outside = await makeOutside(opened.uid)
  const listener = await openListener()
  const tools = [paths.attackPath, paths.ffmpegPath].map((tool) => ({
    tool,
    access: "write" as const,
  }))
  const place = paths.waits
    ? openPlace(opened, workspace, [...tools, ...readersOf(paths.toolPaths)], paths.waits)
    : undefined
  const taskSandbox = { ...opened, place }
  try {
    const isReady = (await place?.ready) ?? true
    const attackArgv = [outside, ...listener.ports.map(String), ...(paths.attacks ?? [])]
    const [attacked, encoded] = await Promise.all([
      runInside(paths.attackPath, attackArgv),
      runInside(paths.ffmpegPath, ENCODE),
    ])
    const made = await stat(join(workspace, "made.mp4")).catch(() => null)
    await sleep(ARRIVAL_MS)
    const traces = { isIntact: await isIntact(outside), wasReached: listener.wasReached() }
    const attacks = readAttacks(attacked.stdout, paths.attacks ?? ATTACK_NAMES, traces)
    const problem =
      attacked.spawnError ??
      findProblem(attacks) ??
      (encoded.cause === null ? null : `an encode ended with ${encoded.cause}`) ??
      (made?.size ? null : `an encode failed: ${lastLine(encoded)}`) ??
      (isReady ? null : "a sandbox that was to wait has ended") ??
      (place && place.countBegun() < tools.length ? "a tool was not started where it waits" : null)
    const isOk = problem === null
    return { tier: sandbox.tier, ok: isOk, supported: true, attacks, problem }
  } finally {
    listener.close()
    await place?.giveUp()
    await Promise.all([removeTree(workspace), removeTree(outside)])
  }

  function runInside(tool: string, argv: readonly string[]) {
    const access = "write" as const
    const spec = { tool, argv, taskSandbox, cwd: workspace, access, timeLimitMs: TIME_LIMIT_MS }
    const { signal } = new AbortController()
    return startProcess({ ...spec, signal, stdoutBytesMax: 4096 }).finished
  }
}

function readersOf(tools: readonly string[] = []) {
  return tools.map((tool) => ({ tool, access: "read" as const }))
}

/** A folder outside the workspace that the tool's user owns: only the sandbox protects it. */
async function makeOutside(uid: number | null): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lathe-outside-"))
  const secret = join(folder, "secret")
  await writeFile(secret, SECRET, { mode: 0o600 })
  // The folder last: its new owner may put something else in the place of the file.
  if (uid !== null) for (const path of [secret, folder]) await chown(path, uid, uid)
  return folder
}

async function isIntact(outside: string): Promise<boolean> {
  const secret = await readFile(join(outside, "secret"), "utf8").catch(() => "")
  const names = await readdir(outside)
  const { mode } = await stat(join(outside, "secret"))
  return secret === SECRET && names.length === 1 && (mode & 0o777) === 0o600
}

async function openListener() {
  let reached = 0
  const server = createServer((socket) => {
    reached += 1
    socket.destroy()
  })
  const udp = createSocket("udp4", () => {
    reached += 1
  })
  server.listen(0, "127.0.0.1")
  udp.bind(0, "127.0.0.1")
  await Promise.all([once(server, "listening"), once(udp, "listening")])
  const address = server.address()
  return {
    ports: [typeof address === "object" ? (address?.port ?? 0) : 0, udp.address().port],
    wasReached: () => reached > 0,
    close() {
      server.close()
      udp.close()
    },
  }
}

function readAttacks(
  stdout: string,
  names: readonly string[],
  traces: { isIntact: boolean; wasReached: boolean },
): Attack[] {
  const lines = new Set(stdout.split("\n"))
  const reported = names.map((name) => ({ name, refused: lines.has(`${name} refused`) }))
  return [
    ...reported,
    { name: "traces_outside", refused: traces.isIntact },
    { name: "traces_on_the_network", refused: !traces.wasReached },
  ]
}

function findProblem(attacks: readonly Attack[]): string | null {
  const failed = attacks.filter(({ refused }) => !refused).map(({ name }) => name)
  return failed.length > 0 ? `not refused: ${failed.join(", ")}` : null
}

function lastLine({ spawnError, stderrTail }: { spawnError: string | null; stderrTail: string }) {
  return spawnError ?? stderrTail.trim().split("\n").at(-1) ?? ""
}
