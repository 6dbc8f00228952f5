import { createSocket } from "node:dgram"
import { once } from "node:events"
import { chown, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { startProcess } from "../process.ts"
import { makeWorkspace, removeWorkspace } from "../workspace.ts"
import { ownJail } from "./sandbox.ts"
import type { Sandbox, Tier } from "./sandbox.ts"

export type Attack = { name: string; refused: boolean }

/** What came of the test of one tier; `problem` says why it is not good enough. */
export type SelfTest = { tier: Tier; ok: boolean; attacks: Attack[]; problem: string | null }

export type SelfTestPlace = { attackPath: string; ffmpegPath: string; workDir: string }

/** What the program of attacks tries; one that it does not speak of counts as not refused. */
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
  "namespace",
  "symlink",
  "hard_link",
  "set_id_file",
  "unnamed_file",
  "run_from_memory",
  "run_others",
] as const

const SECRET = "Nobody in a sandbox reads this."
const TIME_LIMIT_MS = 5000
const ARRIVAL_MS = 20
const ENCODE =
  "-nostdin -v error -y -f lavfi -i testsrc2=size=64x64:duration=0.2 -c:v mpeg4 made.mp4".split(" ")

/**
 * Attacks a sandbox from within, and encodes in it. What the attacks say of themselves is checked
 * against what they would have left behind.
 */
export async function testSandbox(sandbox: Sandbox, place: SelfTestPlace): Promise<SelfTest> {
  const jail = ownJail(sandbox)
  const run = { taskId: crypto.randomUUID(), fence: 0 }
  const workspace = await makeWorkspace(place.workDir, run, jail.uid)
  const outside = await makeOutside(jail.uid)
  const listener = await openListener()
  try {
    const words = [outside, ...listener.ports.map(String)]
    const [attacked, encoded] = await Promise.all([
      runInside(place.attackPath, words),
      runInside(place.ffmpegPath, ENCODE),
    ])
    const made = await stat(join(workspace, "made.mp4")).catch(() => null)
    await sleep(ARRIVAL_MS)
    const traces = { isIntact: await isIntact(outside), wasReached: listener.wasReached() }
    const attacks = readAttacks(attacked.stdout, traces)
    const problem =
      attacked.spawnError ??
      findProblem(attacks) ??
      (made?.size ? null : `an encode failed: ${lastLine(encoded)}`)
    return { tier: sandbox.tier, ok: problem === null, attacks, problem }
  } finally {
    listener.close()
    await Promise.all([removeWorkspace(workspace), rm(outside, { recursive: true, force: true })])
  }

  function runInside(tool: string, argv: readonly string[]) {
    const access = "write" as const
    const order = { tool, argv, jail, cwd: workspace, access, timeLimitMs: TIME_LIMIT_MS }
    const { signal } = new AbortController()
    return startProcess({ ...order, signal, stdoutBytesMax: 4096 }).finished
  }
}

/** A folder that only the sandbox keeps the tool's user from. */
async function makeOutside(uid: number | null): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lathe-outside-"))
  const secret = join(folder, "secret")
  await writeFile(secret, SECRET, { mode: 0o600 })
  if (uid !== null) await Promise.all([folder, secret].map((path) => chown(path, uid, uid)))
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

function readAttacks(said: string, traces: { isIntact: boolean; wasReached: boolean }): Attack[] {
  const lines = new Set(said.split("\n"))
  const told = ATTACK_NAMES.map((name) => ({ name, refused: lines.has(`${name} refused`) }))
  return [
    ...told,
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
