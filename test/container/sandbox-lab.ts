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
import { makeSettings, readEnvironment } from "../../container/environment.ts"
import { describeSandbox, findTiers } from "../../container/sandbox/choose.ts"
import { launchWords } from "../../container/sandbox/launch.ts"
import type { Launch } from "../../container/sandbox/launch.ts"
import type { Limits } from "../../container/sandbox/limits.ts"
import type { Jail, Tier } from "../../container/sandbox/sandbox.ts"

/** How a sandbox is tried: by which tier, and whether the runner is root or somebody. */
export type Variant = { tier: Tier; user: "root" | "somebody"; isThere: boolean }

export type Said = { exitCode: number | null; signal: string | null; text: string }

/** A workspace in a sandbox, and beside it what nobody in it may reach. */
export type SandboxLab = {
  jail: Jail
  workspace: string
  /** A folder outside that belongs to the tool's user; all its files hold the canary. */
  outside: string
  tcpPort: number
  udpPort: number
  unixPath: string
  /** Runs a tool as the runner would, and waits for it. */
  run(tool: string, argv: string[], differing?: Partial<Launch>): Promise<Said>
  /** Runs ffmpeg with words that are split at blanks. */
  ffmpeg(words: string): Promise<Said>
  put(name: string, text: string): Promise<void>
  /** What was reached or changed that must not be; nothing where the sandbox held. */
  damage(said: Said): Promise<string[]>
  [Symbol.asyncDispose](): Promise<void>
}

export const CANARY = "canary-7f3a90-of-the-sandbox"

const SOMEBODY = 23_456
const isRoot = process.getuid?.() === 0
const tiers = await findTiers()

/** Every way to try; one whose tier or user this machine lacks is there to be skipped by name. */
export const VARIANTS: Variant[] = (["namespaces", "landlock"] as const).flatMap((tier) =>
  (["root", "somebody"] as const).map((user) => {
    const hasUser = isRoot || user === "somebody"
    return { tier, user, isThere: tiers.includes(tier) && hasUser }
  }),
)

/** Makes a lab whose sandbox has these limits. */
export async function openSandboxLab(
  { tier, user }: Variant,
  limits: Partial<Limits> = {},
): Promise<SandboxLab> {
  const base = await mkdtemp(join(tmpdir(), "lathe-sandbox-"))
  await chmod(base, 0o711)
  const settings = makeSettings(readEnvironment({}))
  const described = describeSandbox(tier, {
    ...settings,
    limits: { ...settings.limits, ...limits },
  })
  const launcherPath = join(base, "launcher")
  await copyFile(described.launcherPath, launcherPath)
  const isSomebody = user === "somebody"
  const sandbox = { ...described, launcherPath, firstUid: isSomebody ? null : described.firstUid }
  const uid = isSomebody && isRoot ? SOMEBODY : sandbox.firstUid
  const workspace = await makeFolder(join(base, "workspace"), uid)
  const outside = await makeFolder(join(base, "outside"), uid)
  await putFile(join(outside, "secret"), CANARY, uid)
  await putFile(join(outside, "words.srt"), `1\n00:00:00,000 --> 00:00:09,000\n${CANARY}\n`, uid)
  await putFile(join(outside, "words.txt"), `;FFMETADATA1\ntitle=${CANARY}\n`, uid)
  await putFile(join(outside, "sound.wav"), makeWave(CANARY.repeat(100)), uid)
  const listeners = await openListeners(join(outside, "socket"), uid)
  const before = (await readdir(outside)).length
  const jail = { sandbox, uid: sandbox.firstUid }
  const lab: SandboxLab = {
    jail,
    workspace,
    outside,
    ...listeners,
    run(tool, argv, differing = {}) {
      const access = "write" as const
      const launch = { jail, tool, argv, cwd: workspace, access, timeLimitMs: 20_000 }
      const asWhom = isSomebody && uid !== null ? { uid, gid: uid } : {}
      return runWords(launchWords({ ...launch, ...differing }), workspace, asWhom)
    },
    ffmpeg: (words) =>
      lab.run("ffmpeg", ["-nostdin", "-hide_banner", "-y", ...words.split(" ").filter(Boolean)]),
    put: (name, text) => putFile(join(workspace, name), text, uid),
    async damage({ text }) {
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

/** Samples as a sound of 8 bits, so that they come back as they are. */
function makeWave(samples: string): Buffer {
  const header = Buffer.alloc(44)
  header.write("RIFF", 0)
  header.writeUInt32LE(36 + samples.length, 4)
  header.write("WAVEfmt ", 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(8000, 24)
  header.writeUInt32LE(8000, 28)
  header.writeUInt16LE(1, 32)
  header.writeUInt16LE(8, 34)
  header.write("data", 36)
  header.writeUInt32LE(samples.length, 40)
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

async function runWords(
  [tool, ...argv]: [string, ...string[]],
  cwd: string,
  asWhom: { uid?: number; gid?: number },
): Promise<Said> {
  const child = spawn(tool, argv, {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    ...asWhom,
  })
  let text = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
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
