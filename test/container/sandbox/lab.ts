import { spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmod,
  chown,
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  writeFile,
} from "node:fs/promises"
import { Socket, createServer } from "node:net"
import { createSocket } from "node:dgram"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  SANDBOX_TIERS,
  createTierSandbox,
} from "../../../container/sandbox/tiers/choose-sandbox.ts"
import {
  toolLaunchArgv,
  buildLaunchOrderArgv,
  heldProcessArgv,
} from "../../../container/sandbox/sandbox.ts"
import type {
  ToolLaunch,
  TaskSandbox,
  WaitingProcessKind,
} from "../../../container/sandbox/sandbox.ts"
import { usesNamespaces } from "../../../container/sandbox/tiers/tier.ts"
import type { SandboxTier } from "../../../container/sandbox/tiers/tier.ts"
import { encodeLaunchOrder } from "../../../container/sandbox/warm/held-process.ts"
import type { ToolLimits } from "../../../container/settings.ts"
import { waveHeader } from "../wave.ts"
import { makeTestRunnerSettings } from "../../support/runner/runner-settings.ts"
import { listSupportedTiers } from "../../support/runner/supported-tiers.ts"

/** Tier of the sandbox, with a runner that is root or unprivileged. */
export type Variant = {
  tier: SandboxTier
  user: "root" | "unprivileged"
  isSupported: boolean
  /** Form of the held processes; without it, tools start cold. */
  waits?: WaitingProcessKind
}

export type ToolRun = { exitCode: number | null; signal: string | null; text: string }

/** Workspace in a sandbox, with targets outside that no tool may reach. */
export type SandboxLab = {
  taskSandbox: TaskSandbox
  workspace: string
  /** Folder outside that the tool's user owns; all its files contain the canary. */
  outside: string
  tcpPort: number
  udpPort: number
  unixPath: string
  /** Runs a tool as the runner does, and waits for its end. */
  run(tool: string, argv: string[], differing?: Partial<ToolLaunch>): Promise<ToolRun>
  /** Runs ffmpeg with a command line that is split at spaces. */
  ffmpeg(commandLine: string): Promise<ToolRun>
  put(name: string, text: string): Promise<void>
  /** Returns the targets outside that a tool reached or changed; empty if the sandbox held. */
  findDamage(run: ToolRun): Promise<string[]>
  [Symbol.asyncDispose](): Promise<void>
}

export const CANARY = "canary-7f3a90-of-the-sandbox"

/** User id of an unprivileged runner in a lab, if the tests run as root. */
export const UNPRIVILEGED_UID = makeTestRunnerSettings().sandboxFirstUid + 40
const isRoot = process.getuid?.() === 0
const tiers = await listSupportedTiers()

/** All variants; unsupported variants are skipped by name. */
export const VARIANTS: Variant[] = SANDBOX_TIERS.flatMap((tier) =>
  (["root", "unprivileged"] as const).map((user) => {
    const hasUser = isRoot || user === "unprivileged"
    return { tier, user, isSupported: tiers.includes(tier) && hasUser }
  }),
)

/** All variants, and those with held processes. */
export const ALL_VARIANTS: (Variant & { how: string })[] = [
  ...VARIANTS.map((each) => ({ ...each, how: `${each.tier} as ${each.user}` })),
  ...(["launcher", "tool"] as const).flatMap((waits) =>
    VARIANTS.filter(({ tier }) => usesNamespaces(tier)).map((each) => ({
      ...each,
      waits,
      how: `${each.tier} as ${each.user} in which a ${waits} waits`,
    })),
  ),
]

/** Opens a lab whose sandbox has these limits. */
export async function openSandboxLab(
  { tier, user, waits }: Variant,
  limits: Partial<ToolLimits> = {},
): Promise<SandboxLab> {
  const base = await mkdtemp(join(tmpdir(), "lathe-sandbox-"))
  await chmod(base, 0o711)
  const settings = makeTestRunnerSettings()
  const described = createTierSandbox(tier, {
    ...settings,
    limits: { ...settings.limits, ...limits },
  })
  const launcherPath = join(base, "launcher")
  const holdPath = join(base, "hold.so")
  await copyFile(described.launcherPath, launcherPath)
  await copyFile(described.holdPath, holdPath)
  const isUnprivileged = user === "unprivileged"
  const sandbox = {
    ...described,
    launcherPath,
    holdPath,
    firstUid: isUnprivileged ? null : described.firstUid,
  }
  const uid = isUnprivileged && isRoot ? UNPRIVILEGED_UID : sandbox.firstUid
  const workspace = await makeFolder(join(base, "workspace"), uid)
  const outside = await makeFolder(join(base, "outside"), uid)
  await putFile(join(outside, "secret"), CANARY, uid)
  await putFile(join(outside, "words.srt"), `1\n00:00:00,000 --> 00:00:09,000\n${CANARY}\n`, uid)
  await putFile(join(outside, "words.txt"), `;FFMETADATA1\ntitle=${CANARY}\n`, uid)
  await putFile(join(outside, "sound.wav"), makeWave(CANARY.repeat(100)), uid)
  const listeners = await openListeners(join(outside, "socket"), uid)
  const before = (await readdir(outside)).length
  const { workspaceBytes } = sandbox.limits
  const taskSandbox = { sandbox, uid: sandbox.firstUid, workspaceBytes }
  const lab: SandboxLab = {
    taskSandbox,
    workspace,
    outside,
    ...listeners,
    run(tool, argv, differing = {}) {
      const access = "write" as const
      const launch = { taskSandbox, tool, argv, cwd: workspace, access, timeLimitMs: 20_000 }
      const identity = isUnprivileged && uid !== null ? { uid, gid: uid } : {}
      const all = { ...launch, ...differing }
      if (waits)
        return runArgv(
          heldProcessArgv(all, waits),
          workspace,
          identity,
          encodeLaunchOrder(buildLaunchOrderArgv(all, true)),
        )
      return runArgv(toolLaunchArgv(all), workspace, identity)
    },
    ffmpeg: (commandLine) =>
      lab.run("ffmpeg", [
        "-nostdin",
        "-hide_banner",
        "-y",
        ...commandLine.split(" ").filter(Boolean),
      ]),
    put: (name, text) => putFile(join(workspace, name), text, uid),
    async findDamage({ text }) {
      const secret = await readFile(join(outside, "secret"), "utf8")
      const found = await filesWith(workspace, CANARY)
      return [
        ...(text.includes(CANARY) ? ["the canary is in the log"] : []),
        ...found.map((name) => `the canary is in ${name}`),
        ...(secret === CANARY ? [] : ["the secret was changed"]),
        ...((await readdir(outside)).length === before ? [] : ["something was written outside"]),
        ...(listeners.wasReached() ? ["a listener was reached"] : []),
      ]
    },
    async [Symbol.asyncDispose]() {
      listeners.close()
      await rm(base, { recursive: true, force: true })
    },
  }
  return lab
}

async function makeFolder(path: string, uid: number | null): Promise<string> {
  await mkdir(path, { mode: 0o700 })
  if (uid !== null) await chown(path, uid, uid)
  return path
}

/** Returns a WAV file of 8-bit samples, which decoding preserves. */
function makeWave(samples: string): Buffer {
  const header = waveHeader(samples.length, 8000)
  return Buffer.concat([header, Buffer.from(samples)])
}

async function putFile(path: string, text: string | Buffer, uid: number | null): Promise<void> {
  await writeFile(path, text)
  if (uid !== null) await chown(path, uid, uid)
}

async function openListeners(unixPath: string, uid: number | null) {
  let reached = 0
  function note(socket?: unknown): void {
    reached += 1
    if (socket instanceof Socket) socket.destroy()
  }
  const tcp = createServer(note).listen(0, "127.0.0.1")
  const unix = createServer(note).listen(unixPath)
  const udp = createSocket("udp4", note)
  udp.bind(0, "127.0.0.1")
  await Promise.all([once(tcp, "listening"), once(unix, "listening"), once(udp, "listening")])
  if (uid !== null) await chown(unixPath, uid, uid)
  const address = tcp.address()
  return {
    tcpPort: typeof address === "object" ? (address?.port ?? 0) : 0,
    udpPort: udp.address().port,
    unixPath,
    wasReached: () => reached > 0,
    close() {
      for (const each of [tcp, unix, udp]) each.close()
    },
  }
}

async function runArgv(
  [tool, ...argv]: [string, ...string[]],
  cwd: string,
  identity: { uid?: number; gid?: number },
  order: Buffer | null = null,
): Promise<ToolRun> {
  const child = spawn(tool, argv, {
    cwd,
    detached: true,
    stdio: [order ? "pipe" : "ignore", "pipe", "pipe", order ? "pipe" : "ignore"],
    ...identity,
  })
  child.stdin?.end(order)
  let text = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      text = (text + chunk.toString("latin1")).slice(-200_000)
    })
  }
  await once(child, "close")
  return { exitCode: child.exitCode, signal: child.signalCode, text }
}

async function filesWith(folder: string, text: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true })
  const contents = await Promise.all(
    names.map((name) => readFile(join(folder, name), "latin1").catch(() => "")),
  )
  return names.filter((_, index) => contents[index]?.includes(text))
}
