import { createSocket } from "node:dgram"
import { once } from "node:events"
import { chown, mkdtemp, readFile, readdir, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { createWarmSandbox } from "../warm/warm-sandbox.ts"
import { removeTree } from "../remove-tree.ts"
import { createSandboxWithoutTask } from "../sandbox.ts"
import type { Sandbox, WaitingProcessKind } from "../sandbox.ts"
import type { SandboxTier } from "./tier.ts"
import { startToolProcess } from "../start-process.ts"
import { createWorkspace } from "../workspace.ts"

export type SandboxAttackResult = { name: string; refused: boolean }

/**
 * Result of the self-test of a sandbox tier. `problem` is the reason why the tier failed. `loss`
 * describes the protection that a stronger tier would add, and the reason why the stronger tier is
 * not used. `network_problem` is the reason why tools in this tier cannot have a network. The tier
 * is still used for tools without a network.
 */
export type SandboxTestResult = {
  tier: SandboxTier
  ok: boolean
  /** Whether this system supports any tier of the sandbox. */
  supported: boolean
  attacks: SandboxAttackResult[]
  /** Outcomes of the attacks that a tool with a network tried. */
  network_attacks: SandboxAttackResult[]
  problem: string | null
  loss: string | null
  network_problem: string | null
}

export type SandboxTestOptions = {
  attackPath: string
  ffmpegPath: string
  workDir: string
  /** Names of the attacks to try. By default, all attacks are tried. */
  attacks?: readonly (typeof SANDBOX_ATTACK_NAMES)[number][]
  /**
   * Kind of the processes that wait in the sandbox for the order to run a tool. If not set, the
   * self-test starts its tools in new processes.
   */
  heldForm?: WaitingProcessKind
  /** Paths of other tools. For each tool, a process must become ready to wait for its order. */
  toolPaths?: readonly string[]
}

/**
 * Names of the attacks that container/launcher/attack.c makes. If the program reports no outcome of
 * an attack, the attack counts as not refused by the sandbox.
 */
export const SANDBOX_ATTACK_NAMES = [
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

/**
 * Names of the attacks that are tested at each start of a runner: one attack on each protected
 * resource.
 */
export const STARTUP_SANDBOX_ATTACK_NAMES = [
  "read_outside",
  "write_outside",
  "tcp",
  "fork",
  "signal_others",
] as const satisfies readonly (typeof SANDBOX_ATTACK_NAMES)[number][]

const SECRET = "Nobody in a sandbox reads this."
/**
 * Time limit of a self-test, in milliseconds. The limit allows for slow machines, on which the
 * start of a tool takes several times as long.
 */
const TIME_LIMIT_MS = 30_000
const ARRIVAL_MS = 20
const ENCODE =
  "-nostdin -v error -y -f lavfi -i testsrc2=size=64x64:duration=0.2 -c:v mpeg4 made.mp4".split(" ")

/**
 * Tests a sandbox: runs the attack program and an encode by ffmpeg in the sandbox. Checks the
 * outcomes that the attack program reports, and the traces that a successful attack would leave.
 */
export async function testSandbox(
  tested: Sandbox,
  paths: SandboxTestOptions,
): Promise<Omit<SandboxTestResult, "loss" | "network_attacks" | "network_problem">> {
  // Reserves no free space on the disk, since a nearly full disk must not fail the test of a
  // sandbox.
  const sandbox = { ...tested, limits: { ...tested.limits, diskReserveBytes: 0 } }
  const opened = createSandboxWithoutTask(sandbox)
  const run = { taskId: crypto.randomUUID(), fence: 0 }
  const workspace = await createWorkspace(paths.workDir, run, opened.uid)
  const outside = await makeOutside(opened.uid)
  const listener = await openListener()
  const tools = [paths.attackPath, paths.ffmpegPath].map((tool) => ({
    tool,
    access: "write" as const,
  }))
  const warmSandbox = paths.heldForm
    ? createWarmSandbox(
        opened,
        workspace,
        [...tools, ...readersOf(paths.toolPaths)],
        paths.heldForm,
      )
    : undefined
  const taskSandbox = { ...opened, warmSandbox }
  try {
    const isReady = (await warmSandbox?.ready) ?? true
    const attackArgv = [outside, ...listener.ports.map(String), ...(paths.attacks ?? [])]
    const [attacked, encoded] = await Promise.all([
      runInside(paths.attackPath, attackArgv),
      runInside(paths.ffmpegPath, ENCODE),
    ])
    const encodedFile = await stat(join(workspace, "made.mp4")).catch(() => null)
    await sleep(ARRIVAL_MS)
    const traces = { isIntact: await isIntact(outside), wasReached: listener.wasReached() }
    const attacks = readAttacks(attacked.stdout, paths.attacks ?? SANDBOX_ATTACK_NAMES, traces)
    const problem =
      attacked.spawnError ??
      findProblem(attacks) ??
      (encoded.cause === null ? null : `an encode ended with ${encoded.cause}`) ??
      (encodedFile?.size ? null : `an encode failed: ${lastLine(encoded)}`) ??
      (isReady ? null : "a warm sandbox has ended") ??
      (warmSandbox && warmSandbox.countStarted() < tools.length ? "a held tool was not used" : null)
    const isOk = problem === null
    return { tier: sandbox.tier, ok: isOk, supported: true, attacks, problem }
  } finally {
    listener.close()
    await warmSandbox?.discard()
    await Promise.all([removeTree(workspace), removeTree(outside)])
  }

  function runInside(tool: string, argv: readonly string[]) {
    const access = "write" as const
    const spec = { tool, argv, taskSandbox, cwd: workspace, access, timeLimitMs: TIME_LIMIT_MS }
    const { signal } = new AbortController()
    return startToolProcess({ ...spec, signal, stdoutBytesMax: 4096 }).finished
  }
}

function readersOf(tools: readonly string[] = []) {
  return tools.map((tool) => ({ tool, access: "read" as const }))
}

/**
 * Creates a folder outside the workspace. The folder belongs to the tool's user, so that only the
 * sandbox protects the folder.
 */
async function makeOutside(uid: number | null): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lathe-outside-"))
  const secret = join(folder, "secret")
  await writeFile(secret, SECRET, { mode: 0o600 })
  // Changes the owner of the folder last, since the new owner may replace the file in the folder.
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
): SandboxAttackResult[] {
  const lines = new Set(stdout.split("\n"))
  const reported = names.map((name) => ({ name, refused: lines.has(`${name} refused`) }))
  return [
    ...reported,
    { name: "traces_outside", refused: traces.isIntact },
    { name: "traces_on_the_network", refused: !traces.wasReached },
  ]
}

function findProblem(attacks: readonly SandboxAttackResult[]): string | null {
  const failed = attacks.filter(({ refused }) => !refused).map(({ name }) => name)
  return failed.length > 0 ? `not refused: ${failed.join(", ")}` : null
}

function lastLine({ spawnError, stderrTail }: { spawnError: string | null; stderrTail: string }) {
  return spawnError ?? stderrTail.trim().split("\n").at(-1) ?? ""
}
